//! The service of the tutorial on recording, run; and the page that tells it.

// On the page: the program.
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use clewline::{Deterministic, Recorder, files::Alarm};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

/// An account. Its handle is cloned for each client.
#[derive(Clone)]
struct Account {
    deposits: mpsc::Sender<(u64, oneshot::Sender<u64>)>,
    // For clients that only look.
    shown: Arc<AtomicU64>,
}

impl Account {
    fn open() -> Account {
        let (deposits, mut inbox) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(16);
        let shown = Arc::new(AtomicU64::new(0));
        let account = Account { deposits, shown: Arc::clone(&shown) };
        tokio::spawn(async move {
            let mut balance = 0;
            while let Some((amount, reply)) = inbox.recv().await {
                balance += amount;
                let _client_may_have_left = reply.send(balance);
                sleep(Duration::from_millis(5)).await; // As long as a write to a disk.
                shown.store(balance, SeqCst);
            }
        });
        account
    }

    /// Returns the balance after the deposit; `None` if the account is closed.
    async fn deposit(&self, amount: u64) -> Option<u64> {
        let (reply, balance) = oneshot::channel();
        self.deposits.send((amount, reply)).await.ok()?;
        balance.await.ok()
    }

    fn balance(&self) -> u64 {
        self.shown.load(SeqCst)
    }
}

/// What an account should be: a sum.
#[derive(Clone)]
struct Sum;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Deposit(u64),
    Balance,
}

impl Deterministic for Sum {
    type State = u64;
    type Call = Call;
    type Return = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, sum: &mut u64, call: &Call) -> Option<u64> {
        if let Call::Deposit(amount) = call {
            *sum += amount;
        }
        Some(*sum)
    }
}

/// A client that deposits and looks, in turns.
async fn client(number: usize, account: Account, recorder: Arc<Recorder<Sum>>) {
    for amount in 1..=10 {
        let deposit = recorder.call(number, Call::Deposit(amount));
        match timeout(Duration::from_secs(1), account.deposit(amount)).await {
            Ok(Some(balance)) => deposit.returned(balance),
            // The service may have received it, or may still receive it.
            Ok(None) | Err(_) => drop(deposit),
        }
        let look = recorder.call(number, Call::Balance);
        look.returned(account.balance());
    }
}

/// Lets three clients use the account, and judges what they see while they do.
async fn watch_clients(account: Account) -> Result<Option<Alarm>, clewline::Error> {
    let recorder = Arc::new(Recorder::live(Sum));
    let clients = [0, 1, 2].map(|it| tokio::spawn(client(it, account.clone(), Arc::clone(&recorder))));
    loop {
        let is_over = clients.iter().all(|it| it.is_finished());
        let alarm = recorder.watch()?;
        if alarm.is_some() || is_over {
            return Ok(alarm);
        }
        sleep(Duration::from_millis(5)).await;
    }
}

// End.

#[should_panic(expected = "violated: the history is not linearizable")]
// On the page: the test.
#[test]
fn an_account_is_linearizable() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let alarm = runtime.block_on(async { watch_clients(Account::open()).await }).unwrap();
    if let Some(alarm) = alarm {
        panic!("{alarm}");
    }
}
// End.

/// An account whose balance is shown before the reply is sent.
fn mended() -> Account {
    let (deposits, mut inbox) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(16);
    let shown = Arc::new(AtomicU64::new(0));
    let account = Account { deposits, shown: Arc::clone(&shown) };
    tokio::spawn(async move {
        let mut balance = 0;
        while let Some((amount, reply)) = inbox.recv().await {
            // On the page: the mended order.
            balance += amount;
            sleep(Duration::from_millis(5)).await; // As long as a write to a disk.
            shown.store(balance, SeqCst);
            let _client_may_have_left = reply.send(balance);
            // End.
        }
    });
    account
}

#[test]
fn the_mended_account_holds() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let alarm = runtime.block_on(async { watch_clients(mended()).await }).unwrap();
    assert!(alarm.is_none(), "{}", alarm.unwrap());
}

/// A deposit whose future is dropped is pending: it may have been made or not.
#[test]
fn a_cancelled_future_is_recorded_as_pending() {
    let recorder = Arc::new(Recorder::new(Sum));
    // On one thread, so that the service has not replied when the deposit is given up.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let history = runtime.block_on(async {
        let account = mended();
        let given_up = async {
            // On the page: the deposit that is given up.
            let deposit = recorder.call(0, Call::Deposit(5));
            if let Some(balance) = account.deposit(5).await {
                deposit.returned(balance);
            }
            // End.
        };
        timeout(Duration::ZERO, given_up).await.expect_err("no deposit is that fast");
        // The service got it all the same.
        while account.balance() != 5 {
            sleep(Duration::from_millis(1)).await;
        }
        recorder.call(0, Call::Balance).returned(account.balance());
        recorder.history().unwrap()
    });
    let pending: Vec<bool> = history.operations().map(|it| it.ret.is_none()).collect();
    assert_eq!(pending, [true, false]);
    assert!(clewline::check(&Sum, &history).holds());
}

/// The part of this file after that mark, as the page has it.
fn part(mark: &str) -> String {
    let source = include_str!("service.rs");
    let after = source.split_once(&format!("// On the page: the {mark}.\n")).expect("it is marked").1;
    let part = after.split_once("// End.").expect("it has an end").0.trim_end();
    let indent = part.len() - part.trim_start().len();
    let lines: Vec<&str> = part.lines().map(|it| it.get(indent..).unwrap_or(it.trim_start())).collect();
    lines.join("\n")
}

#[test]
fn the_page_has_the_program_that_is_run() {
    let page = include_str!("../../../docs/tutorials/record-a-service.md");
    for mark in ["program", "test", "mended order", "deposit that is given up"] {
        assert!(page.contains(&part(mark)), "the page lacks\n{}", part(mark));
    }
}
