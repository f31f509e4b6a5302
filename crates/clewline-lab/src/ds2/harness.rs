//! Systems with the keys that DS2's harnesses list.

use clewline_actors::{AnyActor, CallOf, ClientCall, Harness, Property, ReturnOf};

/// A harness with the [keys](Harness::published_key) that DS2's harness lists, which promise
/// nothing.
#[derive(Debug)]
pub struct AsPublished<H>(pub H);

impl<H: Harness> Harness for AsPublished<H> {
    type Message = H::Message;
    type Specification = H::Specification;

    fn specification(&self) -> H::Specification {
        self.0.specification()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<H::Message>>> {
        self.0.actors()
    }

    fn request(&self, call: &CallOf<H>, n: u32) -> H::Message {
        self.0.request(call, n)
    }

    fn response(&self, message: &H::Message) -> Option<ReturnOf<H>> {
        self.0.response(message)
    }

    fn is_response_to(&self, request: &H::Message, response: &H::Message) -> bool {
        self.0.is_response_to(request, response)
    }

    fn key(&self, message: &H::Message) -> Option<u64> {
        self.0.published_key(message)
    }

    fn mistake(&self, calls: &[ClientCall<CallOf<H>>]) -> Option<String> {
        self.0.mistake(calls)
    }

    fn misunderstood(&self, message: &H::Message) -> Option<String> {
        self.0.misunderstood(message)
    }

    fn is_immediate(&self, message: &H::Message) -> bool {
        self.0.is_immediate(message)
    }

    fn immediate(&self) -> Vec<String> {
        self.0.immediate()
    }

    fn name(&self, message: &H::Message) -> String {
        self.0.name(message)
    }

    fn properties(&self) -> Vec<Property<H::Message>> {
        self.0.properties()
    }
}
