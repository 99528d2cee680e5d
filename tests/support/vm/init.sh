#!/bin/busybox sh
# shellcheck shell=dash
# The first program in the machine of tests/vm.sh: mounts its root.
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /lower /upper /root
mount -t proc proc /proc
for module in /modules/*; do
	insmod "$module"
done
umount /proc
options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "ro,cache=loose,$options" root /lower
mount -t tmpfs -o size=75% tmpfs /upper
mkdir /upper/changes /upper/work
mount -t overlay overlay /root \
	-o lowerdir=/lower,upperdir=/upper/changes,workdir=/upper/work
mount -t tmpfs tmpfs /root/run
mkdir /root/run/exchange
mount -t 9p -o "cache=none,$options" exchange /root/run/exchange
exec switch_root /root /bin/sh /run/exchange/start.sh
