//! DS2's random scheduler, by the rules as published.
//!
//! An actor or a client is picked at random, whether or not it has anything to receive. An actor
//! takes the first message of its queue, so that messages to one actor never overtake each other. A
//! client receives all its responses: until then its call has not returned. Requests are put into
//! the queues one by one, one a turn.
//!
//! In the published code runs start where earlier ones ended. That is not done here.

use std::collections::VecDeque;

use clewline_actors::{
    ActorId, EnabledStep, Execution, Flow, HistoryEvent, Statistics, StepIdentity,
    schedulers::MessageSchedulerSettings,
};
use clewline_core::Random;

/// The number of clients in each of DS2's harnesses, whichever of them call.
const CLIENTS: usize = 6;

/// Draws one schedule after the other.
pub(super) fn explore(
    execution: &mut Execution,
    settings: &MessageSchedulerSettings,
    statistics: &mut Statistics<'_>,
) -> Flow {
    let mut random = Random::new(settings.seed);
    loop {
        execution.rewind();
        let history_events = draw(execution, &mut random, settings.steps);
        statistics.count_execution(execution, history_events)?;
    }
}

/// One schedule, and what clients saw of it.
fn draw(execution: &mut Execution, random: &mut Random, steps: usize) -> Vec<HistoryEvent> {
    let actors = execution.engine().roots();
    let (requests, begun): (Vec<&EnabledStep>, Vec<&EnabledStep>) =
        execution.enabled().iter().partition(|it| it.from.is_client());
    let mut requests: VecDeque<(ActorId, StepIdentity)> =
        requests.into_iter().map(|it| (it.to, it.identity())).collect();
    let mut queues = vec![VecDeque::new(); actors];
    begun.into_iter().for_each(|it| put(&mut queues, it));
    let mut responses: Vec<Vec<HistoryEvent>> = vec![Vec::new(); CLIENTS];
    let mut history_events = Vec::new();
    let is_left = |queues: &[VecDeque<StepIdentity>], responses: &[Vec<HistoryEvent>]| {
        queues.iter().any(|it| !it.is_empty()) || responses.iter().any(|it| !it.is_empty())
    };
    while !requests.is_empty() || is_left(&queues, &responses) {
        let picked = random.below(actors + CLIENTS);
        if let Some((to, request)) = requests.pop_front() {
            queues[to.index() as usize].push_back(request);
        }
        if actors <= picked {
            history_events.append(&mut responses[picked - actors]);
            continue;
        }
        let Some(first) = queues[picked].pop_front() else { continue };
        let Some(at) = execution.enabled().iter().position(|it| it.identity() == first) else { continue };
        execution.take(at);
        let event = execution.events().len() as u32 - 1;
        let new = execution.enabled().iter().filter(|it| it.sent_by == Some(event));
        new.for_each(|it| put(&mut queues, it));
        for event in execution.events()[event as usize].history.clone() {
            match event {
                HistoryEvent::Call(_) => history_events.push(event),
                HistoryEvent::Return(operation, _) => {
                    let client = execution.engine().client_of(operation).index() as usize;
                    responses[client % CLIENTS].push(event);
                }
            }
        }
        if steps <= execution.events().len() {
            break;
        }
    }
    history_events
}

fn put(queues: &mut [VecDeque<StepIdentity>], receive: &EnabledStep) {
    if let Some(queue) = queues.get_mut(receive.to.index() as usize) {
        queue.push_back(receive.identity());
    }
}
