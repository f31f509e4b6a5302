//! The local state of a task: its registers and its stack.
//!
//! A task that reaches the same access twice with the same registers and the same stack, while
//! nothing it read has changed, will reach it forever. If a register or a word differs, the task
//! may be counting.

use super::place::Place;

/// A hash of the local state of the running task at its access at `place`: equal for equal states.
/// The task's stack ends below `end`. `entries` are our functions that its code calls. `None` if
/// the state cannot be determined.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[cold]
#[inline(never)]
pub(super) fn local_state_hash(place: Place, entries: &[usize], end: usize) -> Option<u64> {
    frames::caller(place.address(), entries).and_then(|it| it.hash(end))
}

#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
pub(super) fn local_state_hash(_place: Place, _entries: &[usize], _end: usize) -> Option<u64> {
    None
}

/// The lowest address of its stack that a task uses, where its code goes on, and its registers.
pub(super) type Registers = [usize; 13];

/// The registers of the running task at its access at `place`. `None` if they cannot be determined.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(never)]
pub(super) fn registers(place: Place, entries: &[usize]) -> Option<Registers> {
    frames::caller(place.address(), entries).map(|it| it.registers())
}

#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
pub(super) fn registers(_place: Place, _entries: &[usize]) -> Option<Registers> {
    None
}

/// Finds the frame of code that is not ours with the unwinder.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod frames {
    use std::ffi::{c_int, c_void};

    // Callee-saved registers, by their DWARF numbers. Values in other registers do not survive an
    // access.
    #[cfg(target_arch = "x86_64")]
    const CALLEE_SAVED_REGISTERS: [c_int; 6] = [3, 6, 12, 13, 14, 15];
    #[cfg(target_arch = "aarch64")]
    const CALLEE_SAVED_REGISTERS: [c_int; 11] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];

    // The calling frame is at most this far away.
    const FRAMES_MAX: usize = 32;
    // Return codes for the unwinder (Itanium C++ ABI, level I).
    const UNWIND_CONTINUE: c_int = 0;
    const UNWIND_STOP: c_int = 4;

    type Context = *mut c_void;

    unsafe extern "C" {
        fn _Unwind_Backtrace(visit: extern "C" fn(Context, *mut c_void) -> c_int, data: *mut c_void)
        -> c_int;
        fn _Unwind_GetIP(context: Context) -> usize;
        fn _Unwind_GetGR(context: Context, register: c_int) -> usize;
        fn _Unwind_GetCFA(context: Context) -> usize;
        fn _Unwind_GetRegionStart(context: Context) -> usize;
    }

    /// A frame of the task's own code.
    pub(super) struct Caller {
        // Copies of a loop's body, which compilers make of one that counts, differ in nothing else.
        goes_on: usize,
        registers: [usize; CALLEE_SAVED_REGISTERS.len()],
        low: usize,
    }

    struct FrameWalk<'a> {
        address: Option<usize>,
        entries: &'a [usize],
        is_inside: bool,
        frames: usize,
        found: Option<Caller>,
    }

    /// The frame that calls one of `entries`; or the frame with the return address `address`, if
    /// given.
    pub(super) fn caller(address: Option<usize>, entries: &[usize]) -> Option<Caller> {
        let mut walk = FrameWalk { address, entries, is_inside: false, frames: 0, found: None };
        // SAFETY: `visit` takes a pointer of this type, and its target outlives the walk.
        unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
        walk.found
    }

    extern "C" fn visit(context: Context, data: *mut c_void) -> c_int {
        // SAFETY: this is the pointer that `caller` passed, and nothing else uses it meanwhile.
        let walk = unsafe { &mut *data.cast::<FrameWalk<'_>>() };
        walk.frames += 1;
        // SAFETY: the context is valid during this call, and these queries are allowed.
        let (goes_on, start) = unsafe { (_Unwind_GetIP(context), _Unwind_GetRegionStart(context)) };
        let is_entry = walk.entries.contains(&start);
        let is_found = walk.address.map_or(walk.is_inside && !is_entry, |it| it == goes_on);
        walk.is_inside |= is_entry;
        if is_found {
            // SAFETY: as above; these registers exist.
            let registers = CALLEE_SAVED_REGISTERS.map(|it| unsafe { _Unwind_GetGR(context, it) });
            // SAFETY: as above.
            let low = unsafe { _Unwind_GetCFA(context) };
            walk.found = Some(Caller { goes_on, registers, low });
        }
        if is_found || walk.frames == FRAMES_MAX { UNWIND_STOP } else { UNWIND_CONTINUE }
    }

    fn mixed(words: impl Iterator<Item = usize>) -> u64 {
        words.fold(0, |mixed: u64, word| {
            (mixed.rotate_left(5) ^ word as u64).wrapping_mul(0x517C_C1B7_2722_0A95)
        })
    }

    impl Caller {
        pub(super) fn registers(&self) -> super::Registers {
            let mut all = [0; 13];
            (all[0], all[1]) = (self.low, self.goes_on);
            all[2..2 + self.registers.len()].copy_from_slice(&self.registers);
            all
        }

        /// A hash of the whole state.
        pub(super) fn hash(&self, end: usize) -> Option<u64> {
            // The first words of a stack do not belong to the task.
            let stack = (self.low.next_multiple_of(8)..end).step_by(8).map(|it| {
                // SAFETY: this is the stack that this code runs on, above its own frames. Nothing
                // else writes there meanwhile.
                unsafe { std::ptr::with_exposed_provenance::<usize>(it).read_volatile() }
            });
            let own = [self.goes_on].into_iter().chain(self.registers);
            let mixed = mixed(own.chain(stack));
            (self.low < end).then_some(mixed)
        }
    }
}
