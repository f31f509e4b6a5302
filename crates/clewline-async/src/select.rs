//! `select!`: the first of several futures that is ready.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use clewline_threads::choose;

/// The result of the branch that was ready first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Selected<A, B, C = (), D = ()> {
    First(A),
    Second(B),
    Third(C),
    Fourth(D),
}

/// Awaits two to four futures at once, runs the branch of the first that is ready, and drops the
/// others.
///
/// With which branch each poll begins is a choice of the schedule, and random outside of an
/// exploration; the others follow in order. After `biased;` it is the first branch. Temporary
/// values in the expressions of futures are dropped before a branch runs.
///
/// ```
/// use std::time::Duration;
/// use clewline_async::{block_on, select, sleep, sync::oneshot};
///
/// let (sender, mut receiver) = oneshot::channel();
/// sender.send(3).unwrap();
/// let found = block_on(async {
///     select! {
///         biased;
///         result = &mut receiver => result.unwrap_or(0),
///         () = sleep(Duration::from_secs(1)) => 0,
///     }
/// });
/// assert_eq!(found, 3);
/// ```
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)+) => { $crate::select!(@branches Biased $($branches)+) };
    (@branches $first:ident $a:pat = $fa:expr => $ea:expr, $b:pat = $fb:expr => $eb:expr $(,)?) => {{
        let selected = $crate::select2($crate::PollOrder::$first, $fa, $fb).await;
        match selected {
            $crate::Selected::First($a) => $ea,
            $crate::Selected::Second($b) => $eb,
            $crate::Selected::Third(()) | $crate::Selected::Fourth(()) => unreachable!(),
        }
    }};
    (@branches $first:ident $a:pat = $fa:expr => $ea:expr, $b:pat = $fb:expr => $eb:expr,
     $c:pat = $fc:expr => $ec:expr $(,)?) => {{
        let selected = $crate::select3($crate::PollOrder::$first, $fa, $fb, $fc).await;
        match selected {
            $crate::Selected::First($a) => $ea,
            $crate::Selected::Second($b) => $eb,
            $crate::Selected::Third($c) => $ec,
            $crate::Selected::Fourth(()) => unreachable!(),
        }
    }};
    (@branches $first:ident $a:pat = $fa:expr => $ea:expr, $b:pat = $fb:expr => $eb:expr,
     $c:pat = $fc:expr => $ec:expr, $d:pat = $fd:expr => $ed:expr $(,)?) => {{
        let selected = $crate::select4($crate::PollOrder::$first, $fa, $fb, $fc, $fd).await;
        match selected {
            $crate::Selected::First($a) => $ea,
            $crate::Selected::Second($b) => $eb,
            $crate::Selected::Third($c) => $ec,
            $crate::Selected::Fourth($d) => $ed,
        }
    }};
    ($($branches:tt)+) => { $crate::select!(@branches Chosen $($branches)+) };
}

/// The branch with which each poll begins.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollOrder {
    /// The first one.
    Biased,
    /// A choice.
    Chosen,
}

impl PollOrder {
    fn of(self, branches: usize) -> usize {
        match self {
            PollOrder::Biased => 0,
            PollOrder::Chosen => choose(branches),
        }
    }
}

macro_rules! select_function {
    ($name:ident, $n:literal, $($future:ident $type:ident $variant:ident $at:literal),+; $($rest:ty),*) => {
        #[doc(hidden)]
        pub async fn $name<$($type: Future),+>(
            first: PollOrder,
            $($future: $type),+
        ) -> Selected<$($type::Output),+ $(, $rest)*> {
            $(let mut $future = pin!($future);)+
            poll_fn(|context| {
                let first = first.of($n);
                for at in (0..$n).map(|it| (first + it) % $n) {
                    let polled = match at {
                        $($at => $future.as_mut().poll(context).map(Selected::$variant),)+
                        _ => unreachable!("a branch"),
                    };
                    if polled.is_ready() {
                        return polled;
                    }
                }
                Poll::Pending
            })
            .await
        }
    };
}

select_function!(select2, 2, a A First 0, b B Second 1; (), ());
select_function!(select3, 3, a A First 0, b B Second 1, c C Third 2; ());
select_function!(select4, 4, a A First 0, b B Second 1, c C Third 2, d D Fourth 3;);
