//! A system call without a function around it.
//!
//! Measured with bare loops of 4 KiB reads on one EPYC guest: the same pread took 1.3 us through a function and 0.9 us
//! inline. The cause is inferred, not proven: in the profile the kernel's smallest functions cost several times as much,
//! as if a `ret` in the program spoilt its return prediction (SRSO mitigation). The calls of the hot loop go this way,
//! all others through libc.

/// Calls the kernel with up to six arguments (the rest zero); a negative result is an errno.
///
/// # Safety
/// As for the system call itself: pointers among the arguments must be valid for what it does with them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn call(number: libc::c_long, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention on x86-64: it changes rax, rcx and r11 only, and no stack of ours; what the
    // call does with memory is the caller's promise.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Calls the kernel with up to six arguments (the rest zero); a negative result is an errno.
///
/// # Safety
/// As for the system call itself: pointers among the arguments must be valid for what it does with them.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn call(number: libc::c_long, args: [usize; 6]) -> isize {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]) };
    if result < 0 { -(crate::backend::errno() as isize) } else { result as isize }
}
