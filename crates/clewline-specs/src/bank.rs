//! A bank: transfers between accounts, and reads of all accounts at once, as in Jepsen's `bank`
//! workload. Whatever order transfers take effect in, no read may show half of one.
//!
//! An account that a read does not mention holds 0, and so does every account of a fresh bank. The
//! name of an account is a text, an integer or a keyword, and all that matters is how it is
//! written: JSON has no other names of members than texts.

use std::{collections::BTreeMap, fmt, sync::Arc};

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, RawCall, Value,
    Values, Written,
};

use crate::{
    copies::tree_bytes,
    entry::{SpecificationEntry, Visitor},
    operation::{OperationInfo, RawValue},
    parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "bank",
    about: "a bank, judged as a whole: transfer, read (all balances); accounts hold 0 at first",
    operations: &OPERATIONS,
    parameter: Some("how far an account may be overdrawn: 0 for not at all; by default without limit"),
    is_keyed: false,
    build: |parameter| {
        let overdraft = parameter.map(|it| parameter::parse_number(it, "an overdraft", 0)).transpose()?;
        parameter::boxed(Bank { overdraft: overdraft.map(|it| it as u64), ..Bank::new() })
    },
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("bank", Bank::new());
    visitor.visit("bank:2", Bank::with_overdraft(2));
}

const OPERATIONS: [OperationInfo; 2] = [
    OperationInfo {
        name: "transfer",
        aliases: &[],
        argument: "[from, to, amount]",
        about: "moves the amount; returns nothing or true, false if `from` would be overdrawn too far; \
                also with an object {from, to, amount}",
    },
    OperationInfo {
        name: "read",
        aliases: &[],
        argument: "",
        about: "returns the object of all accounts and their balances, or the list of the balances of 0, 1, …",
    },
];

/// The specification.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    // `None` if there is no limit.
    overdraft: Option<u64>,
    initial: Balances,
}

impl Bank {
    /// A bank in which accounts may be overdrawn without limit.
    #[must_use]
    pub fn new() -> Bank {
        Bank::default()
    }

    /// A bank in which no account may be overdrawn by more than `limit`.
    #[must_use]
    pub fn with_overdraft(limit: u64) -> Bank {
        Bank { overdraft: Some(limit), ..Bank::new() }
    }

    /// The same bank, with these balances at first.
    #[must_use]
    pub fn starting_at<A: Into<Account>>(self, balances: impl IntoIterator<Item = (A, i64)>) -> Bank {
        let all = balances.into_iter().map(|(account, balance)| (account.into(), balance.into()));
        Bank { initial: Balances::new(all), ..self }
    }
}

/// The name of an account.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(Arc<str>);

impl Account {
    /// The integer that the name is, if it is written as integers are.
    fn int(&self) -> Option<i64> {
        self.0.parse::<i64>().ok().filter(|it| it.to_string() == *self.0)
    }

    fn read(values: &Values, value: Value) -> Option<Account> {
        match values.get(value) {
            Datum::Text(name) | Datum::Symbol(name) => Some(name.into()),
            Datum::Int(int) => Some(int.into()),
            _ => None,
        }
    }

    fn written(written: &Written) -> Option<Account> {
        match written {
            Written::Text(name) => Some(name.as_str().into()),
            Written::Int(int) => Some((*int).into()),
            _ => None,
        }
    }
}

impl From<&str> for Account {
    fn from(name: &str) -> Account {
        Account(name.into())
    }
}

impl From<i64> for Account {
    fn from(number: i64) -> Account {
        Account(number.to_string().into())
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.int() {
            Some(int) => int.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

/// The balances of accounts. Those that hold 0 are not in it. Sums of 64-bit integers do not
/// overflow here.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Balances(BTreeMap<Account, i128>);

impl Balances {
    fn new(all: impl IntoIterator<Item = (Account, i128)>) -> Balances {
        Balances(all.into_iter().filter(|it| it.1 != 0).collect())
    }

    fn of(&self, account: &Account) -> i128 {
        self.0.get(account).copied().unwrap_or(0)
    }

    fn add(&mut self, account: &Account, amount: i128) {
        match self.of(account) + amount {
            0 => drop(self.0.remove(account)),
            balance => drop(self.0.insert(account.clone(), balance)),
        }
    }

    /// The balances in an object or a map, or those in a list, whose accounts are numbered from 0.
    /// An object that is an initial state is a list of pairs.
    fn read(values: &Values, value: Value) -> Option<Balances> {
        match values.get(value) {
            Datum::List(items) => {
                let balance = |(number, item): (i64, &Value)| match values.get(*item) {
                    Datum::Int(balance) => Some((number.into(), balance.into())),
                    Datum::List(&[account, balance]) => match values.get(balance) {
                        Datum::Int(balance) => Some((Account::read(values, account)?, balance.into())),
                        _ => None,
                    },
                    _ => None,
                };
                (0..).zip(items).map(balance).collect::<Option<Vec<_>>>().map(Balances::new)
            }
            Datum::Other(written) => {
                let Written::Map(members) = Written::parse(written)? else { return None };
                let member = |(account, balance): &(Written, Written)| match balance {
                    Written::Int(balance) => Some((Account::written(account)?, i128::from(*balance))),
                    Written::Word(digits) => Some((Account::written(account)?, digits.parse().ok()?)),
                    _ => None,
                };
                members.iter().map(member).collect::<Option<Vec<_>>>().map(Balances::new)
            }
            _ => None,
        }
    }
}

/// As JSON writes it.
impl fmt::Debug for Balances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, (Account(name), balance)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}\"")?;
            for it in name.chars() {
                match it {
                    '"' | '\\' => write!(f, "\\{it}")?,
                    it if (it as u32) < 0x20 => write!(f, "\\u{:04x}", it as u32)?,
                    it => write!(f, "{it}")?,
                }
            }
            write!(f, "\":{balance}")?;
        }
        f.write_str("}")
    }
}

/// A call on a bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `transfer [from, to, amount]`: moves the amount, which is not negative.
    Transfer {
        /// Whose balance decreases.
        from: Account,
        /// Whose balance increases.
        to: Account,
        /// By how much.
        amount: u64,
    },
    /// `read`: returns all balances.
    Read,
}

/// The result of a call on a bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// Whether a transfer was made.
    Done(bool),
    /// All balances.
    All(Arc<Balances>),
}

impl From<bool> for Return {
    /// Whether a transfer was made.
    fn from(is_done: bool) -> Return {
        Return::Done(is_done)
    }
}

impl Deterministic for Bank {
    type State = Balances;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> Balances {
        self.initial.clone()
    }

    fn apply(&self, state: &mut Balances, call: &Call) -> Option<Return> {
        let Call::Transfer { from, to, amount } = call else {
            return Some(Return::All(Arc::new(state.clone())));
        };
        let amount = i128::from(*amount);
        let is_covered = self.overdraft.is_none_or(|limit| amount <= state.of(from) + i128::from(limit));
        if is_covered {
            state.add(from, -amount);
            state.add(to, amount);
        }
        Some(Return::Done(is_covered))
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (call, ret) {
            (Call::Transfer { .. }, Some(Return::Done(false))) => Footprint::Reads(Elements::Any),
            (Call::Transfer { .. }, _) => Footprint::Changes(Elements::Any),
            (Call::Read, None) => Footprint::Reads(Elements::None),
            (Call::Read, Some(_)) => Footprint::Reads(Elements::Any),
        }
    }

    fn determines_state(&self, _call: &Call, ret: &Return) -> Option<Balances> {
        match ret {
            Return::All(all) => Some((**all).clone()),
            Return::Done(_) => None,
        }
    }

    fn state_bytes(&self, state: &Balances) -> usize {
        size_of_val(state) + tree_bytes::<(Account, i128)>(state.0.len())
    }
}

impl Codec for Bank {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        let raw = RawValue::argument(values, method, arg);
        match method {
            "read" => raw.nothing().map(|()| Call::Read),
            "transfer" => match transfer(values, arg) {
                Some(call) => Ok(call),
                None => raw.error("{from, to, amount} or [from, to, amount], the amount not negative"),
            },
            _ => Err(OperationInfo::unknown(&OPERATIONS, method)),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        match (call, ret) {
            (Call::Transfer { .. }, Value::ABSENT | Value::NIL | Value::TRUE) => Ok(Return::Done(true)),
            (Call::Transfer { .. }, Value::FALSE) => Ok(Return::Done(false)),
            (Call::Transfer { .. }, _) => {
                RawValue::result(values, "transfer", ret).error("nothing, true or false")
            }
            (Call::Read, _) => match Balances::read(values, ret) {
                Some(all) => Ok(Return::All(Arc::new(all))),
                None => RawValue::result(values, "read", ret)
                    .error("the object of all accounts and their balances"),
            },
        }
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        let name = |it: &Account| it.int().map_or_else(|| Encoded::Text((*it.0).into()), Encoded::Int);
        match call {
            Call::Transfer { from, to, amount } => {
                let digits = || Encoded::Other(amount.to_string().into());
                let amount = i64::try_from(*amount).map_or_else(|_| digits(), Encoded::Int);
                ("transfer", Encoded::List(vec![name(from), name(to), amount]))
            }
            Call::Read => ("read", Encoded::NOTHING),
        }
    }

    fn write_return(&self, _call: &Call, ret: &Return) -> Encoded {
        match ret {
            Return::Done(true) => Encoded::NOTHING,
            Return::Done(false) => Encoded::Value(Value::FALSE),
            Return::All(all) => Encoded::Other(format!("{all:?}").into()),
        }
    }

    fn sample(&self, sampler: &mut CallSampler) -> Call {
        match sampler.method(&["transfer", "read"]) {
            "read" => Call::Read,
            _ => {
                let mut account = || sampler.key().as_int().unwrap_or(0);
                let (from, other) = (account(), account());
                // A transfer from an account to itself shows nothing.
                let to = if other == from { from ^ 1 } else { other };
                Call::Transfer { from: from.into(), to: to.into(), amount: sampler.int().unsigned_abs() }
            }
        }
    }

    fn name(&self) -> Option<String> {
        Some(match self.overdraft {
            None => ENTRY.name.to_owned(),
            Some(limit) => format!("{}:{limit}", ENTRY.name),
        })
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        Err(CodecError::value("the initial state", "an object of accounts and balances", values, initial))
    }

    fn start_at(&mut self, values: &Values, initial: Value) -> bool {
        let balances = Balances::read(values, initial);
        let is_read = balances.is_some();
        self.initial = balances.unwrap_or_default();
        is_read
    }
}

/// The transfer that a list or an object stands for.
fn transfer(values: &Values, arg: Value) -> Option<Call> {
    match values.get(arg) {
        Datum::List(&[from, to, amount]) => {
            let amount = match values.get(amount) {
                Datum::Int(amount) => u64::try_from(amount).ok()?,
                Datum::Other(digits) => digits.parse().ok()?,
                _ => return None,
            };
            Some(Call::Transfer {
                from: Account::read(values, from)?,
                to: Account::read(values, to)?,
                amount,
            })
        }
        Datum::Other(written) => {
            let Written::Map(members) = Written::parse(written)? else { return None };
            let member = |name: &str| {
                let is_it = |it: &&(Written, Written)| it.0 == Written::Text(name.to_owned());
                members.iter().find(is_it).map(|it| &it.1)
            };
            let amount = match member("amount")? {
                Written::Int(amount) => u64::try_from(*amount).ok()?,
                Written::Word(digits) => digits.parse().ok()?,
                _ => return None,
            };
            let account = |name: &str| Account::written(member(name)?);
            Some(Call::Transfer { from: account("from")?, to: account("to")?, amount })
        }
        _ => None,
    }
}
