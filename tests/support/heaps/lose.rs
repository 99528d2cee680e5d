// A program whose allocator is jemalloc linked into it, with the prefix _rjem_,
// as tikv-jemallocator has it. Four threads leave blocks to main(), which holds
// these and a map, loses 100 blocks of 160 bytes, and waits for its input.
use std::alloc::{GlobalAlloc, Layout};
use std::collections::HashMap;
use std::ffi::c_void;
use std::io::Read;

extern "C" {
    fn _rjem_malloc(size: usize) -> *mut c_void;
    fn _rjem_mallocx(size: usize, flags: i32) -> *mut c_void;
    fn _rjem_rallocx(block: *mut c_void, size: usize, flags: i32) -> *mut c_void;
    fn _rjem_sdallocx(block: *mut c_void, size: usize, flags: i32);
    fn scrub(); // what is left of addresses on the stack, in vector registers
}

struct Jemalloc;

fn flags(layout: &Layout) -> i32 {
    if layout.align() <= 16 && layout.align() <= layout.size() {
        0
    } else {
        layout.align().trailing_zeros() as i32
    }
}

unsafe impl GlobalAlloc for Jemalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match flags(&layout) {
            0 => _rjem_malloc(layout.size()) as *mut u8,
            flags => _rjem_mallocx(layout.size(), flags) as *mut u8,
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        _rjem_sdallocx(block as *mut c_void, layout.size(), flags(&layout))
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let layout = Layout::from_size_align_unchecked(size, layout.align());
        _rjem_rallocx(block as *mut c_void, size, flags(&layout)) as *mut u8
    }
}

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

struct Session {
    id: u64,
    name: String,
    tags: Vec<u32>,
}

fn work(thread: u8) -> Vec<Vec<u8>> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for i in 0..5000 {
        kept.push(vec![thread; i % 700 + 1]);
        if i % 3 == 0 {
            let count = kept.len();
            kept.swap_remove(i % count);
        }
    }
    kept
}

#[inline(never)]
fn lose() {
    for i in 0..100u64 {
        std::mem::forget(Box::new([i ^ 0x5555; 20]));
    }
}

fn main() {
    let threads: Vec<_> = (0..4).map(|i| std::thread::spawn(move || work(i))).collect();
    let parts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let mut held: HashMap<u64, Box<Session>> = HashMap::new();
    for id in 0..3000 {
        let tags = vec![id as u32; (id % 50) as usize];
        let name = format!("session {}", id);
        held.insert(id, Box::new(Session { id, name, tags }));
    }
    lose();
    unsafe { scrub() };
    println!("ready");
    let _ = std::io::stdin().read(&mut [0u8; 1]);
    let bytes = held.values().map(|one| one.id as usize + one.name.len() + one.tags.len());
    println!("{} {}", bytes.sum::<usize>(), parts.len());
}
