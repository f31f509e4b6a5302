//! Specifications of one type: what is chosen by its name while a program runs.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use rustc_hash::FxHashMap;

use crate::{
    codec::{Codec, CodecError, Encoded},
    intern::Interner,
    sampling::CallSampler,
    specification::Specification,
    value::{Value, Values},
};

/// A specification whose types are erased, and which is a [`Specification`] again: states, calls
/// and results are numbers in tables of its own. Clones share these.
///
/// It has the steps of the original and none of its hints. Long histories are therefore
/// [loaded](crate::ErasedSpec::load) with their types instead.
#[derive(Clone)]
pub struct AnySpecification(Arc<dyn Steps>);

/// A call of an [`AnySpecification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnyCall(u32);

/// A result of an [`AnySpecification`]: equal for all calls that return the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnyReturn(u32);

impl AnySpecification {
    /// Erases the types of `specification`.
    #[must_use]
    pub fn new<S>(specification: S) -> AnySpecification
    where
        S: Codec + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
    {
        let tables = Mutex::new(Tables {
            states: Interner::new(),
            calls: Interner::new(),
            returns: Interner::new(),
            typed: FxHashMap::default(),
            next: Vec::new(),
        });
        AnySpecification(Arc::new(Numbered { specification, tables }))
    }
}

impl fmt::Debug for AnySpecification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnySpecification").field(&self.0.name()).finish()
    }
}

impl Specification for AnySpecification {
    type State = u32;
    type Call = AnyCall;
    type Return = AnyReturn;

    fn initial(&self) -> u32 {
        self.0.initial()
    }

    fn step(&self, state: &u32, call: &AnyCall, ret: Option<&AnyReturn>, next: &mut Vec<u32>) {
        self.0.step(*state, call.0, ret.map(|it| it.0), next);
    }

    fn returns(&self, state: &u32, call: &AnyCall) -> Vec<AnyReturn> {
        self.0.returns(*state, call.0).into_iter().map(AnyReturn).collect()
    }

    fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl Codec for AnySpecification {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<AnyCall, CodecError> {
        self.0.read_call(values, method, arg).map(AnyCall)
    }

    fn read_return(&self, values: &Values, call: &AnyCall, ret: Value) -> Result<AnyReturn, CodecError> {
        self.0.read_return(values, call.0, ret).map(AnyReturn)
    }

    fn write_call(&self, call: &AnyCall) -> (&'static str, Encoded) {
        self.0.write_call(call.0)
    }

    fn write_return(&self, call: &AnyCall, ret: &AnyReturn) -> Encoded {
        self.0.write_return(call.0, ret.0)
    }

    fn sample(&self, sampler: &mut CallSampler) -> AnyCall {
        AnyCall(self.0.sample(sampler))
    }

    fn name(&self) -> Option<String> {
        self.0.name()
    }
}

/// A specification by numbers.
trait Steps: Send + Sync {
    fn initial(&self) -> u32;
    fn step(&self, state: u32, call: u32, ret: Option<u32>, next: &mut Vec<u32>);
    fn returns(&self, state: u32, call: u32) -> Vec<u32>;
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<u32, CodecError>;
    fn read_return(&self, values: &Values, call: u32, ret: Value) -> Result<u32, CodecError>;
    fn write_call(&self, call: u32) -> (&'static str, Encoded);
    fn write_return(&self, call: u32, ret: u32) -> Encoded;
    fn sample(&self, sampler: &mut CallSampler) -> u32;
    fn name(&self) -> Option<String>;
    fn fault(&self) -> Option<String>;
}

struct Numbered<S: Specification> {
    specification: S,
    tables: Mutex<Tables<S>>,
}

struct Tables<S: Specification> {
    states: Interner<S::State>,
    calls: Interner<S::Call>,
    returns: Interner<Value>,
    // The results of a call in their type; `None` if the call has no such result.
    typed: FxHashMap<(u32, u32), Option<S::Return>>,
    // Kept for its allocation.
    next: Vec<S::State>,
}

impl<S: Specification> Numbered<S> {
    fn tables(&self) -> MutexGuard<'_, Tables<S>> {
        self.tables.lock().expect("no step of a specification panicked")
    }
}

impl<S> Steps for Numbered<S>
where
    S: Codec + Send + Sync,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn initial(&self) -> u32 {
        self.tables().states.intern(self.specification.initial())
    }

    fn step(&self, state: u32, call: u32, ret: Option<u32>, next: &mut Vec<u32>) {
        let Tables { states, calls, returns, typed, next: found } = &mut *self.tables();
        let number = call;
        let (state, call) = (&states.values()[state as usize], &calls.values()[call as usize]);
        let ret = ret.map(|it| {
            let read =
                || self.specification.read_return(&Values::new(), call, returns.values()[it as usize]).ok();
            &*typed.entry((number, it)).or_insert_with(read)
        });
        match ret {
            Some(None) => return,
            Some(Some(ret)) => {
                let ret = self.specification.canonical_return(call, ret);
                self.specification.step(state, call, Some(ret), found);
            }
            None => self.specification.step(state, call, None, found),
        }
        next.extend(found.drain(..).map(|it| states.intern(it)));
    }

    fn returns(&self, state: u32, call: u32) -> Vec<u32> {
        let Tables { states, calls, returns, .. } = &mut *self.tables();
        let call = &calls.values()[call as usize];
        let found = self.specification.returns(&states.values()[state as usize], call);
        let mut values = Values::new();
        let mut shared = |it: Encoded| {
            let value = it.store(&mut values);
            values.share(value)
        };
        found.iter().map(|it| returns.intern(shared(self.specification.write_return(call, it)))).collect()
    }

    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<u32, CodecError> {
        let call = self.specification.read_call(values, method, arg)?;
        Ok(self.tables().calls.intern(call))
    }

    fn read_return(&self, values: &Values, call: u32, ret: Value) -> Result<u32, CodecError> {
        let Tables { calls, returns, .. } = &mut *self.tables();
        let ret = values.share(ret);
        self.specification.read_return(values, &calls.values()[call as usize], ret)?;
        Ok(returns.intern(ret))
    }

    fn write_call(&self, call: u32) -> (&'static str, Encoded) {
        self.specification.write_call(&self.tables().calls.values()[call as usize])
    }

    fn write_return(&self, call: u32, ret: u32) -> Encoded {
        let Tables { calls, returns, .. } = &*self.tables();
        let (call, ret) = (&calls.values()[call as usize], returns.values()[ret as usize]);
        let read = self.specification.read_return(&Values::new(), call, ret);
        read.map_or(Encoded::Value(ret), |it| self.specification.write_return(call, &it))
    }

    fn sample(&self, sampler: &mut CallSampler) -> u32 {
        let call = self.specification.sample(sampler);
        self.tables().calls.intern(call)
    }

    fn name(&self) -> Option<String> {
        self.specification.name()
    }

    fn fault(&self) -> Option<String> {
        self.specification.fault()
    }
}
