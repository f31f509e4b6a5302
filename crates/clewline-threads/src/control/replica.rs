//! A replica of this process, in which the tasks run on and their whole state is compared.
//!
//! Whether an execution repeats forever depends on everything that its tasks may read: registers,
//! stacks, the heap, thread-local memory, statics. Most of that is invisible to the engine. So the
//! process is copied (`clone`), which copies the running thread only, and the copy runs the tasks
//! on. No other thread writes there, system calls end it, and so does reading a clock. Thus the
//! memory is all there is: if it is the same before and after a round, the next round is the same,
//! too.
//!
//! The replica ends with its verdict as its exit code. If anything else ends it, nothing is proven.
//! It never allocates: another thread may have held the allocator's lock when it was copied.
//!
//! Requires: Linux on x86-64. Elsewhere nothing is proven.
//!
//! Cost: some milliseconds, and a copy of the writable memory that the process uses.

use std::ops::Range;

/// Which of the two processes this is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The replica, which must [leave](leave).
    Replica,
    /// The original. Whether the replica ended with [`Verdict::Repeats`].
    Original(bool),
}

/// The verdict of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The state was the same after another round.
    Repeats = 87,
    /// It was not, or that could not be determined.
    Unknown = 88,
}

/// Memory that is not compared.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// Memory that does not belong to the code under test.
    pub(super) ranges: Vec<Range<usize>>,
    /// Addresses on stacks: what is below them is not in use.
    pub(super) lowest: Vec<usize>,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
pub(super) use linux::{Image, leave, split};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
pub(super) use elsewhere::{Image, leave, split};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
mod elsewhere {
    use super::{Ignored, Side, Verdict};

    pub(in crate::control) fn split() -> Side {
        Side::Original(false)
    }

    pub(in crate::control) fn leave(_verdict: Verdict) -> ! {
        std::process::abort()
    }

    #[derive(Debug)]
    pub(in crate::control) struct Image;

    impl Image {
        pub(in crate::control) fn new() -> Option<Image> {
            None
        }

        pub(in crate::control) fn take(&mut self, _ignored: &mut Ignored) -> bool {
            false
        }

        pub(in crate::control) fn is_same(&self, _ignored: &Ignored) -> bool {
            false
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod linux {
    use std::{arch::asm, ops::Range, ptr, slice};

    use super::{Ignored, Side, Verdict};

    // How much processor time a replica may take.
    const REPLICA_CPU_SECONDS_MAX: u64 = 5;
    // How much memory is compared at most.
    const COMPARED_PAGES_MAX: usize = 256 << 10;
    const PAGE_BYTES: usize = 4 << 10;
    const MAPPINGS_MAX: usize = 4 << 10;
    // The text of `/proc/self/maps` is shorter.
    const TEXT_BYTES_MAX: usize = 1 << 20;
    // How many entries of the page map are read at a time.
    const PAGE_MAP_ENTRIES: usize = 1 << 10;
    // Bits of an entry: the page is in memory, or swapped out.
    const IS_USED: u64 = 1 << 63 | 1 << 62;

    /// A system call, without the C library: its functions may belong to the code under test.
    ///
    /// # Safety
    ///
    /// The preconditions of the call.
    unsafe fn system_call(number: i64, arguments: [usize; 6]) -> isize {
        let [one, two, three, four, five, six] = arguments;
        let result;
        // SAFETY: guaranteed by the caller; the clobbered registers are declared.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") number as isize => result,
                in("rdi") one,
                in("rsi") two,
                in("rdx") three,
                in("r10") four,
                in("r8") five,
                in("r9") six,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        result
    }

    /// Copies this process.
    pub(in crate::control) fn split() -> Side {
        // SAFETY: a copy of the memory and of this thread. Without a signal when it ends, so that
        // the code under test does not notice.
        let child = unsafe { system_call(libc::SYS_clone, [0; 6]) };
        if child == 0 {
            return Side::Replica;
        }
        if child < 0 {
            return Side::Original(false);
        }
        let mut status: i32 = 0;
        loop {
            let arguments =
                [child as usize, (&raw mut status).expose_provenance(), libc::__WALL as usize, 0, 0, 0];
            // SAFETY: `status` is writable.
            let ended = unsafe { system_call(libc::SYS_wait4, arguments) };
            if ended == child {
                break;
            }
            if ended != -(libc::EINTR as isize) {
                return Side::Original(false);
            }
        }
        Side::Original(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == Verdict::Repeats as i32)
    }

    /// Ends the replica.
    pub(in crate::control) fn leave(verdict: Verdict) -> ! {
        loop {
            // SAFETY: it has one thread, and nothing of it is needed.
            unsafe { system_call(libc::SYS_exit, [verdict as usize, 0, 0, 0, 0, 0]) };
        }
    }

    /// Stays on this processor: the system writes its number into the memory of the thread.
    fn stay() {
        let (mut processor, mut set) = (0_u32, [0_u64; 16]);
        // SAFETY: the first call writes the number, and the second reads the set.
        unsafe {
            let pointer = (&raw mut processor).expose_provenance();
            system_call(libc::SYS_getcpu, [pointer, 0, 0, 0, 0, 0]);
            set[processor as usize / 64 % 16] = 1 << (processor % 64);
            let pointer = set.as_ptr().expose_provenance();
            system_call(libc::SYS_sched_setaffinity, [0, size_of_val(&set), pointer, 0, 0, 0]);
        }
    }

    /// Makes every signal end the replica, without a trace, and also the time stamp counter, which
    /// clocks read. Returns whether that is so.
    fn end_at_signals() -> bool {
        let default = [0_u64; 4];
        let zeros = default.as_ptr().expose_provenance();
        let timer = [0, 0, REPLICA_CPU_SECONDS_MAX, 0];
        let timer = timer.as_ptr().expose_provenance();
        // SAFETY: the calls read these arrays only, which have the sizes that they expect. No code
        // that would handle these signals is needed any more.
        unsafe {
            for signal in 1..32 {
                system_call(libc::SYS_rt_sigaction, [signal, zeros, 0, 8, 0, 0]);
            }
            system_call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, zeros, 0, 8, 0, 0]);
            system_call(libc::SYS_setrlimit, [libc::RLIMIT_CORE as usize, zeros, 0, 0, 0, 0]);
            system_call(libc::SYS_setitimer, [libc::ITIMER_PROF as usize, timer, 0, 0, 0, 0]);
            let trap = [libc::PR_SET_TSC as usize, libc::PR_TSC_SIGSEGV as usize, 0, 0, 0, 0];
            system_call(libc::SYS_prctl, trap) == 0
        }
    }

    /// A system call ends the replica from now on, except [`leave`] and reads of these files.
    /// Returns whether that is so.
    fn forbid_system_calls(files: [usize; 2]) -> bool {
        const LOAD: u16 = 0x20;
        const JUMP_IF_EQUAL: u16 = 0x15;
        const RETURN: u16 = 0x06;
        const ALLOW: u32 = 0x7fff_0000;
        const KILL: u32 = 0x8000_0000;
        // Offsets in `seccomp_data`.
        const NUMBER: u32 = 0;
        const FIRST_ARGUMENT: u32 = 16;
        let filter = |code: u16, jt: u8, jf: u8, k: u32| libc::sock_filter { code, jt, jf, k };
        let mut rules = [
            filter(LOAD, 0, 0, NUMBER),
            filter(JUMP_IF_EQUAL, 4, 0, libc::SYS_exit as u32),
            filter(JUMP_IF_EQUAL, 0, 4, libc::SYS_pread64 as u32),
            filter(LOAD, 0, 0, FIRST_ARGUMENT),
            filter(JUMP_IF_EQUAL, 1, 0, files[0] as u32),
            filter(JUMP_IF_EQUAL, 0, 1, files[1] as u32),
            filter(RETURN, 0, 0, ALLOW),
            filter(RETURN, 0, 0, KILL),
        ];
        let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
        let program = (&raw const program).expose_provenance();
        // SAFETY: the second call copies the rules.
        unsafe {
            system_call(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0]) == 0
                && system_call(
                    libc::SYS_prctl,
                    [libc::PR_SET_SECCOMP as usize, libc::SECCOMP_MODE_FILTER as usize, program, 0, 0, 0],
                ) == 0
        }
    }

    /// New memory, which is never returned.
    fn memory<T>(n: usize) -> Option<&'static mut [T]> {
        let bytes = (n * size_of::<T>()).max(1);
        let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        // Private memory might be joined with that of the program.
        let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
        // SAFETY: no existing mapping is replaced.
        let found = unsafe { system_call(libc::SYS_mmap, [0, bytes, access, flags, usize::MAX, 0]) };
        // SAFETY: the memory is new and zero, which is a valid value of the types used here.
        (0 < found).then(|| unsafe {
            slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(found as usize), n)
        })
    }

    fn open(path: &std::ffi::CStr) -> Option<usize> {
        let path = path.as_ptr().expose_provenance();
        // SAFETY: the path ends with a zero byte.
        let file = unsafe {
            system_call(libc::SYS_openat, [libc::AT_FDCWD as usize, path, libc::O_RDONLY as usize, 0, 0, 0])
        };
        (0 <= file).then_some(file as usize)
    }

    /// Reads at `offset`. Returns how many bytes were read.
    fn read<T>(file: usize, to: &mut [T], offset: usize) -> usize {
        let arguments = [file, to.as_mut_ptr().expose_provenance(), size_of_val(to), offset, 0, 0];
        // SAFETY: the slice has that many bytes, and every value is valid for the types used here.
        usize::try_from(unsafe { system_call(libc::SYS_pread64, arguments) }).unwrap_or(0)
    }

    #[derive(Clone, Copy)]
    struct Mapping {
        start: usize,
        end: usize,
        // Unused pages have the contents of a file, and not zeros.
        has_file: bool,
    }

    impl std::fmt::Debug for Mapping {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{:x}-{:x}", self.start, self.end)
        }
    }

    type Page = [u64; PAGE_BYTES / 8];

    /// The writable memory at one moment, or room for it.
    #[derive(Debug)]
    pub(in crate::control) struct Image {
        text: &'static mut [u8],
        mappings: &'static mut [Mapping],
        n_mappings: usize,
        // The pages in use, and their contents.
        pages: &'static mut [usize],
        contents: &'static mut [Page],
        n_pages: usize,
        maps: usize,
        page_map: usize,
    }

    impl Image {
        /// An empty image. From now on, signals, system calls and clocks end the replica. `None` if
        /// that is not possible.
        pub(in crate::control) fn new() -> Option<Image> {
            let mut image = Image {
                text: memory(TEXT_BYTES_MAX)?,
                mappings: memory(MAPPINGS_MAX)?,
                n_mappings: 0,
                pages: memory(COMPARED_PAGES_MAX)?,
                contents: memory(COMPARED_PAGES_MAX)?,
                n_pages: 0,
                maps: open(c"/proc/self/maps")?,
                page_map: open(c"/proc/self/pagemap")?,
            };
            stay();
            image.remove_clocks()?;
            (end_at_signals() && forbid_system_calls([image.maps, image.page_map])).then_some(image)
        }

        /// Copies the writable memory. Returns whether that was possible.
        pub(in crate::control) fn take(&mut self, ignored: &mut Ignored) -> bool {
            self.find_mappings().is_some() && self.ignore_unused(ignored).is_some() && self.copy().is_some()
        }

        /// Ignores what is below the used part of each stack.
        fn ignore_unused(&self, ignored: &mut Ignored) -> Option<()> {
            for low in &ignored.lowest {
                let mappings = &self.mappings[..self.n_mappings];
                let stack = mappings.iter().find(|it| (it.start..it.end).contains(low))?;
                if ignored.ranges.len() == ignored.ranges.capacity() {
                    return None;
                }
                ignored.ranges.push(stack.start..*low);
            }
            Some(())
        }

        fn copy(&mut self) -> Option<()> {
            let Image { mappings, pages, contents, n_pages, page_map, .. } = self;
            walk(&mappings[..self.n_mappings], *page_map, |page| {
                if *n_pages < COMPARED_PAGES_MAX {
                    pages[*n_pages] = page;
                    contents[*n_pages] = *contents_of(page);
                }
                *n_pages += 1;
            })?;
            (*n_pages <= COMPARED_PAGES_MAX).then_some(())
        }

        /// Whether the memory is the same now.
        pub(in crate::control) fn is_same(&self, ignored: &Ignored) -> bool {
            let (mut at, mut is_same) = (0, true);
            let pages = &self.pages[..self.n_pages];
            let walked = walk(&self.mappings[..self.n_mappings], self.page_map, |page| {
                const ZEROS: Page = [0; PAGE_BYTES / 8];
                let is_known = pages.get(at) == Some(&page);
                let before = if is_known { &self.contents[at] } else { &ZEROS };
                at += usize::from(is_known);
                is_same &= is_same_page(page, before, &ignored.ranges);
            });
            walked.is_some() && is_same && at == pages.len()
        }

        /// Reads the list of mappings, a line each.
        fn read_maps(&mut self) -> Option<usize> {
            let mut len = 0;
            loop {
                match read(self.maps, &mut self.text[len..], len) {
                    0 => return (0 < len && len < TEXT_BYTES_MAX).then_some(len),
                    n => len += n,
                }
            }
        }

        /// Unmaps the memory in which the system provides clocks: without it, reading one ends the
        /// replica.
        fn remove_clocks(&mut self) -> Option<()> {
            let len = self.read_maps()?;
            for line in self.text[..len].split(|it| *it == b'\n') {
                if line.ends_with(b"[vvar]") || line.ends_with(b"[vvar_vclock]") || line.ends_with(b"[vdso]")
                {
                    let mut ends = line.split(|it| *it == b' ').next()?.split(|it| *it == b'-');
                    let (start, end) = (number(ends.next()?)?, number(ends.next()?)?);
                    // SAFETY: nothing but functions that read clocks is there.
                    unsafe { system_call(libc::SYS_munmap, [start, end - start, 0, 0, 0, 0]) };
                }
            }
            Some(())
        }

        /// Finds the writable memory of this process. `None` if it shares some with other
        /// processes.
        fn find_mappings(&mut self) -> Option<()> {
            let len = self.read_maps()?;
            let own = [
                self.text.as_ptr().addr(),
                self.mappings.as_ptr().addr(),
                self.pages.as_ptr().addr(),
                self.contents.as_ptr().addr(),
            ];
            for line in self.text[..len].split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
                // `7fc7baf48000-7fc7baf4a000 rw-p 001d3000 fe:00 326279    /usr/lib/libc.so.6`
                let mut fields = line.split(|it| *it == b' ').filter(|it| !it.is_empty());
                let mut ends = fields.next()?.split(|it| *it == b'-');
                let (start, end) = (number(ends.next()?)?, number(ends.next()?)?);
                let access = fields.next()?;
                let inode = fields.nth(2)?;
                if !access.starts_with(b"rw") || own.contains(&start) {
                    continue;
                }
                if access.get(3) != Some(&b'p') || self.n_mappings == MAPPINGS_MAX {
                    return None;
                }
                self.mappings[self.n_mappings] = Mapping { start, end, has_file: inode != b"0" };
                self.n_mappings += 1;
            }
            (self.n_mappings != 0).then_some(())
        }
    }

    fn contents_of(page: usize) -> &'static Page {
        // SAFETY: the page is readable, and nothing writes there while this is used.
        unsafe { &*ptr::with_exposed_provenance::<Page>(page) }
    }

    fn is_same_page(page: usize, before: &Page, ignored: &[Range<usize>]) -> bool {
        let now = contents_of(page);
        let is_ignored = |at: usize| {
            let word = page + 8 * at..page + 8 * at + 8;
            ignored.iter().any(|it| it.start < word.end && word.start < it.end)
        };
        now == before || (0..now.len()).filter(|&at| now[at] != before[at]).all(is_ignored)
    }

    /// Visits every page in use, in the order of addresses. `None` if that cannot be determined.
    fn walk(mappings: &[Mapping], page_map: usize, mut visit: impl FnMut(usize)) -> Option<()> {
        let mut entries = [0_u64; PAGE_MAP_ENTRIES];
        for mapping in mappings {
            let mut page = mapping.start;
            while page < mapping.end {
                let n = PAGE_MAP_ENTRIES.min((mapping.end - page) / PAGE_BYTES);
                if read(page_map, &mut entries[..n], page / PAGE_BYTES * 8) != 8 * n {
                    return None;
                }
                for entry in &entries[..n] {
                    if mapping.has_file || entry & IS_USED != 0 {
                        visit(page);
                    }
                    page += PAGE_BYTES;
                }
            }
        }
        Some(())
    }

    /// A hexadecimal number.
    fn number(digits: &[u8]) -> Option<usize> {
        digits.iter().try_fold(0, |sum, it| Some(sum << 4 | (*it as char).to_digit(16)? as usize))
    }
}
