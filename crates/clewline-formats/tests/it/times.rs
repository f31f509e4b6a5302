//! Times, in the formats that have them.

use clewline_core::Times;
use clewline_formats::ReadOptions;

use crate::support::{format, options};

/// Line, call and return of each operation of `text` that has times.
fn times(name: &str, text: &str) -> Option<Vec<(usize, i64, Option<i64>)>> {
    let options = ReadOptions { times: true, ..options(false, 1) };
    let recording = format(name).read(&mut text.as_bytes(), &options).ok()?;
    Some(
        recording
            .names
            .times?
            .iter()
            .map(|&Times { line, called, returned }| (line, called, returned))
            .collect(),
    )
}

#[test]
fn operations_in_json_lines_have_their_times_on_one_line() {
    let text =
        "\n{\"process\":1,\"op\":\"a\",\"call\":7,\"return\":9}\n{\"process\":2,\"op\":\"a\",\"call\":8}\n";
    assert_eq!(times("jsonl", text), Some(vec![(2, 7, Some(9)), (3, 8, None)]));
}

#[test]
fn events_in_json_lines_may_say_when_they_happened() {
    let text = r#"{"event":"call","process":1,"op":"a","time":10}
{"event":"call","process":"x","op":"a","time":11}
{"event":"info","process":"x","time":12}
{"event":"return","process":1,"time":13}"#;
    assert_eq!(times("jsonl", text), Some(vec![(1, 10, Some(13)), (2, 11, None)]));
    assert_eq!(times("jsonl", &text.replace(",\"time\":12", "")), None);
    assert_eq!(times("jsonl", &text.replace("12", "\"noon\"")), None);
}

#[test]
fn events_of_jepsen_may_say_when_they_happened() {
    let text = "[{:process 0, :type :invoke, :f :read, :value nil, :time 3291485317}
 {:process :nemesis, :type :info, :f :start}
 {:process 1, :type :invoke, :f :write, :value 1, :time 3291485400}
 {:process 0, :type :ok, :f :read, :value nil, :time 3296209422}
 {:process 1, :type :fail, :f :write, :value 1, :time 3296209423}]";
    assert_eq!(
        times("jepsen", text),
        Some(vec![(1, 3_291_485_317, Some(3_296_209_422)), (3, 3_291_485_400, None)])
    );
    assert_eq!(times("jepsen", &text.replace(", :time 3296209422", "")), None);
    let keyed = "{:process 0, :type :invoke, :f :get, :key \"0\", :value nil, :time 5}";
    assert_eq!(times("porcupine-kv", keyed), Some(vec![(1, 5, None)]));
}

#[test]
fn formats_without_a_clock_have_no_times() {
    assert_eq!(times("jepsen-log", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"), None);
    assert_eq!(times("observations", "<observation></observation>"), None);
}

/// Threads number processes each by themselves, and in another order.
#[test]
fn any_number_of_threads_reads_the_same_times() {
    let mut text = String::new();
    for time in 0..40_000 {
        let process = (time * time) % 7;
        text.push_str(&format!(
            "{{\"event\":\"call\",\"process\":{process},\"op\":\"a\",\"time\":{time}}}\n"
        ));
        text.push_str(&format!("{{\"event\":\"return\",\"process\":{process},\"time\":{}}}\n", 2 * time));
    }
    let read = |jobs| {
        let options = ReadOptions { times: true, ..options(false, jobs) };
        format("jsonl").read(&mut text.as_bytes(), &options).unwrap().names.times.unwrap()
    };
    let times = read(1);
    assert_eq!((times.len(), times[39_999].called, times[39_999].returned), (40_000, 39_999, Some(79_998)));
    assert_eq!(read(3), times);
}

#[test]
fn times_are_kept_only_if_they_are_wanted() {
    let text = "{\"process\":1,\"op\":\"a\",\"call\":7,\"return\":9}";
    let recording = format("jsonl").read(&mut text.as_bytes(), &options(false, 1)).unwrap();
    assert_eq!(recording.names.times, None);
}
