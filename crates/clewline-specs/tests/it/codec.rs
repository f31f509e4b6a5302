//! Calls and results of every specification are read back as they were written.

use clewline_core::{CallSampler, Codec, Encoded, Value, Values};

use crate::support::{for_every_specification, reachable_states, small_sampler, with_texts};

#[test]
fn calls_and_returns_survive_being_written_and_read() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for seed in 0..100 {
            let mut sampler = small_sampler(seed);
            for state in reachable_states(specification, sample, seed) {
                // The table of the texts of maps; the other samples need none.
                let mut values = crate::support::text_values();
                let call = sample(&mut sampler);
                let (method, arg) = specification.write_call(&call);
                let arg = arg.store(&mut values);
                assert_eq!(
                    specification.read_call(&values, method, arg).as_ref(),
                    Ok(&call),
                    "{name} {seed}"
                );
                for ret in specification.returns(&state, &call) {
                    let written = specification.write_return(&call, &ret);
                    let stored = written.store(&mut values);
                    let read = specification.read_return(&values, &call, stored);
                    match written {
                        // A text that was made by appends is a value of the new recording.
                        Encoded::Text(_) => assert!(read.is_ok(), "{name} {seed} {call:?}"),
                        _ => assert_eq!(read.as_ref(), Ok(&ret), "{name} {seed} {call:?}"),
                    }
                }
            }
        }
    }
    for_every_specification!(law);
}

#[test]
fn an_empty_result_is_read_in_three_forms_and_written_in_one() {
    let queue = clewline_specs::queue::Queue::default();
    let call = clewline_specs::queue::Call::Enq(Value::TRUE);
    let values = Values::new();
    let read = |ret| queue.read_return(&values, &call, ret).unwrap();
    for ret in [Value::ABSENT, Value::NIL, Value::TRUE] {
        assert_eq!(read(ret), Value::TRUE);
    }
    assert_eq!(queue.write_return(&call, &read(Value::TRUE)), Encoded::NOTHING);
    assert_eq!(queue.write_return(&call, &read(Value::FALSE)), Encoded::Value(Value::FALSE));
    let bounded = clewline_specs::queue::Queue { capacity: clewline_specs::Capacity::bounded(1) };
    assert_eq!(bounded.write_return(&call, &Value::TRUE), Encoded::Value(Value::TRUE));
}

#[test]
fn a_text_that_no_recording_names_is_written_out() {
    use clewline_core::Specification;
    use clewline_specs::map::Call;
    let map = with_texts("append", "");
    let values = crate::support::text_values();
    let text = |it: &str| values.find_text(it).unwrap();
    let key = Value::TRUE;
    let mut states = vec![map.initial()];
    map.advance(&mut states, &Call::Append(key, text("b")), None);
    map.advance(&mut states, &Call::Append(key, text("a")), None);
    let ret = map.returns(&states[0], &Call::Get(key)).remove(0);
    assert_eq!(map.write_return(&Call::Get(key), &ret), Encoded::Text("ba".into()));
}
