//! With Rust's own tests: the second of three loses memory, and fails for it.
//!
//!     rustc --test leaks_rust.rs && ./leaks_rust
//!
//! The memory of Rust comes from malloc unless there is a #[global_allocator].

use std::ffi::{CStr, CString};
use std::os::raw::c_char;
use std::sync::{Mutex, PoisonError};

#[link(name = "memunreachable")]
extern "C" {
    fn memunreachable_test_begin(name: *const c_char) -> bool;
    fn memunreachable_test_end() -> *const c_char;
}

/// Fails for what TEST lost. Tests run beside one another, checked ones do not.
#[track_caller]
fn no_leaks(name: &str, test: fn()) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = CString::new(name).unwrap();
    unsafe { memunreachable_test_begin(name.as_ptr()) };
    test();
    let lost = unsafe { memunreachable_test_end() };
    if !lost.is_null() {
        panic!("{}", unsafe { CStr::from_ptr(lost) }.to_string_lossy());
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(String::from).collect()
}

#[test]
fn all_words() {
    no_leaks("all_words", || assert_eq!(split("one,two,three").len(), 3));
}

#[test]
fn array_only() {
    no_leaks("array_only", || {
        for word in split("one,two,three") {
            std::mem::forget(word); // and the array is freed
        }
    });
}

#[test]
fn no_words() {
    no_leaks("no_words", || assert_eq!(split("").len(), 1));
}
