#!/bin/sh
# Process 1 in the machine of tests/vm.sh, when its root is there: mounts what a
# system has, and runs the command.
export HOME=/root
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exchange=/run/exchange
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+memory +pids' >/sys/fs/cgroup/cgroup.subtree_control
$exchange/busybox ifconfig lo up
cd "$(cat $exchange/folder)" || exit 1
setsid -w sh $exchange/command </dev/null
echo $? >$exchange/status
$exchange/busybox poweroff -f
