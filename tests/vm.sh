#!/bin/sh
# Run a command in a virtual machine: another kernel, Debian's, with Yama, and
# with memory cgroups of version 2. Its root is this machine's /, which it only
# reads; what it writes stays in its memory. No QEMU, no kernel: a loud skip.
#
# Where KVM cannot run it the CPU is emulated, 10 to 30 times as slow. (That of
# kvm_pvm runs kernels that are made for it; it interprets all others, slower
# than QEMU does.)
#
# Usage: vm.sh [COMMAND]    ("make check")
# The command runs as root, in this folder; its exit status is that of vm.sh.
# Environment:
#   VM_ARCH (uname -m): x86_64 or aarch64
#   VM_ROOT (/): a system for this CPU, with the tree in this folder of it
#   VM_CPUS (2), VM_MEMORY (6144, in MiB), VM_APPEND: more for the kernel
#   VM_CACHE (~/.cache/memunreachable/vm): has folders named like VM_ARCH, each
#     with Debian's packages of the kernel and of busybox-static, unpacked. They
#     are downloaded if apt-get knows them
set -u
cd "$(dirname "$0")/.." || exit 1
native=$(uname -m)
arch=${VM_ARCH:-$native}
caches=${VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memunreachable/vm}
cache=$caches/$arch
emulated=
[ $# -gt 0 ] || set -- make check

skip() {
	echo "SKIPPED: vm: $1"
	exit 77
}

# What Debian calls the CPU.
debian_of() {
	case $1 in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	esac
}

qemu=qemu-system-$arch
command -v "$qemu" >/dev/null || skip "no $qemu"
case $arch in
x86_64) machine="-machine q35" console=ttyS0 ;;
aarch64) machine="-machine virt,gic-version=max" console=ttyAMA0 ;;
*) skip "no machine of $arch" ;;
esac
if [ "$arch" = "$native" ] && [ -w /dev/kvm ] && [ ! -e /sys/module/kvm_pvm ]; then
	cpu="-accel kvm -cpu host"
else
	cpu="-accel tcg,thread=multi -cpu max"
	emulated=yes
	echo "vm: the CPU is emulated"
fi

# unpack ARCH PACKAGE: into the cache.
unpack() (
	mkdir -p "$caches/$1" && cd "$caches/$1" || exit 1
	apt-get -q download "$2:$(debian_of "$1")" && dpkg -x "$2"_*.deb . &&
		rm "$2"_*.deb
)

# The kernel's package has another name with each release.
find_kernel() {
	debian=$(debian_of "$arch")
	apt-cache depends "linux-image-$debian:$debian" |
		sed -n 's/^ *Depends: \(linux-image-[^:]*\).*/\1/p'
}

fetch() {
	for one in "$native" "$arch"; do
		[ -x "$caches/$one/bin/busybox" ] ||
			unpack "$one" busybox-static || return
	done
	ls "$cache"/boot/vmlinuz-* || unpack "$arch" "$(find_kernel)"
}

# What reaches the root, in the order of loading. One that is absent is a part
# of the kernel.
modules="virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev
	virtio_pci netfs fscache 9pnet 9pnet_virtio 9p overlay"

make_initramfs() {
	mkdir -p "$work/init/bin" "$work/init/modules"
	install "$cache/bin/busybox" "$work/init/bin/"
	install tests/support/vm/init.sh "$work/init/init"
	number=10
	for module in $modules; do
		find "$cache/lib/modules" -name "$module.ko" \
			-exec cp {} "$work/init/modules/$number-$module.ko" \;
		number=$((number + 1))
	done
	cd "$work/init" || exit 1
	find . | "$caches/$native/bin/busybox" cpio -o -H newc
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
fetch >"$work/log" 2>&1 || skip "no kernel: $(tail -n 1 "$work/log")"
(make_initramfs) >"$work/initramfs" 2>"$work/log" ||
	skip "no initramfs: $(tail -n 1 "$work/log")"

# Both sides see it: the command, and its exit status.
exchange=$work/exchange
mkdir "$exchange"
cp "$cache/bin/busybox" tests/support/vm/start.sh "$exchange/"
pwd >"$exchange/folder"
[ -z "$emulated" ] ||
	echo 'export TEST_TIMEOUT=6000 CK_DEFAULT_TIMEOUT=2400' >"$exchange/command"
printf '%s\n' "$*" >>"$exchange/command"

# folder NAME PATH OPTION
folder() {
	echo "-fsdev local,id=$1,path=$2,security_model=none,multidevs=remap$3" \
	    "-device virtio-9p-pci,fsdev=$1,mount_tag=$1"
}

# Words.
# shellcheck disable=SC2046,SC2086
"$qemu" $machine $cpu -smp "${VM_CPUS:-2}" -m "${VM_MEMORY:-6144}" \
	-nodefaults -display none -no-reboot -serial stdio -device virtio-rng-pci \
	-kernel "$(ls "$cache"/boot/vmlinuz-*)" -initrd "$work/initramfs" \
	-append "console=$console loglevel=4 panic=-1 no_timer_check cgroup_no_v1=all ${VM_APPEND:-}" \
	$(folder root "${VM_ROOT:-/}" ,readonly=on) \
	$(folder exchange "$exchange" '') </dev/null
[ -s "$exchange/status" ] || {
	echo "vm: the machine ended before the command did"
	exit 1
}
exit "$(cat "$exchange/status")"
