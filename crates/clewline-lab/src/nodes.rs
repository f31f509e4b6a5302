//! Nodes that are made once and live as long as their structure, identified by their index.
//!
//! An [`Arena`](crate::arena::Arena) does the same for real threads, and allocating an index there
//! is an access that other threads observe. Exploring that would multiply executions without any
//! benefit: the allocator is not the subject. So here it is no scheduling point, and what never
//! changes once a node is reachable need not be atomic.

use std::sync::{Arc, PoisonError, RwLock};

/// The index that stands for no node.
pub(crate) const NONE: u32 = 0;

/// Nodes, numbered from 1 in the order in which they were made.
pub(crate) struct Nodes<T>(RwLock<Vec<Arc<T>>>);

impl<T> Nodes<T> {
    pub(crate) const fn new() -> Self {
        Nodes(RwLock::new(Vec::new()))
    }

    /// Another node.
    pub(crate) fn add(&self, node: T) -> u32 {
        let mut nodes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        nodes.push(Arc::new(node));
        u32::try_from(nodes.len()).expect("fewer than 2^32 nodes")
    }

    /// The node at `index`, which must have been given.
    pub(crate) fn get(&self, index: u32) -> Arc<T> {
        let nodes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&nodes[index as usize - 1])
    }
}
