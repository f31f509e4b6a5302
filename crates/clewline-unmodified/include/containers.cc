/*
 * The parts of std::map, std::set and std::list that are not templates.
 *
 * In GNU's C++ standard library these functions are in its shared library, where no access to memory is seen. Programs in C++
 * are linked with these ones instead, which are instrumented like the rest. They keep the same invariants: the parent of a
 * tree's header is its root, and its children are the first and the last node; the header is red, and the parent of the root.
 */
#if defined(__has_include)
#if __has_include(<bits/stl_tree.h>) && __has_include(<bits/stl_list.h>)

#include <list>
#include <map>

#ifdef __GLIBCXX__

namespace {

using Node = std::_Rb_tree_node_base;

bool is_red(const Node *node) { return node && node->_M_color == std::_S_red; }

/* The pointer that leads to a node: its parent's, or the header's. */
Node *&link_to(Node *node, Node *&root) {
    if (node == root) return root;
    Node *parent = node->_M_parent;
    return node == parent->_M_left ? parent->_M_left : parent->_M_right;
}

/* Moves a node down to the left, or to the right; a child takes its place. */
void rotate(Node *node, bool to_left, Node *&root) {
    Node *child = to_left ? node->_M_right : node->_M_left;
    Node *&moved = to_left ? child->_M_left : child->_M_right;
    (to_left ? node->_M_right : node->_M_left) = moved;
    if (moved) moved->_M_parent = node;
    child->_M_parent = node->_M_parent;
    link_to(node, root) = child;
    moved = node;
    node->_M_parent = child;
}

template <typename N> N *following(N *node) {
    if (node->_M_right) {
        node = node->_M_right;
        while (node->_M_left) node = node->_M_left;
        return node;
    }
    N *above = node->_M_parent;
    while (node == above->_M_right) {
        node = above;
        above = above->_M_parent;
    }
    /* The header's right child is the last node, which may be the root. */
    return node->_M_right != above ? above : node;
}

template <typename N> N *preceding(N *node) {
    /* The header: its last node. */
    if (node->_M_color == std::_S_red && node->_M_parent->_M_parent == node) return node->_M_right;
    if (node->_M_left) {
        node = node->_M_left;
        while (node->_M_right) node = node->_M_right;
        return node;
    }
    N *above = node->_M_parent;
    while (node == above->_M_left) {
        node = above;
        above = above->_M_parent;
    }
    return above;
}

/* The subtree at `node`, below `above`, lacks one black node. `node` may be null. */
void restore_black(Node *node, Node *above, Node *&root) {
    while (node != root && !is_red(node)) {
        const bool is_left = node == above->_M_left;
        Node *sibling = is_left ? above->_M_right : above->_M_left;
        if (is_red(sibling)) {
            sibling->_M_color = std::_S_black;
            above->_M_color = std::_S_red;
            rotate(above, is_left, root);
            sibling = is_left ? above->_M_right : above->_M_left;
        }
        Node *near = is_left ? sibling->_M_left : sibling->_M_right;
        Node *far = is_left ? sibling->_M_right : sibling->_M_left;
        if (!is_red(near) && !is_red(far)) {
            sibling->_M_color = std::_S_red;
            node = above;
            above = above->_M_parent;
            continue;
        }
        if (!is_red(far)) {
            near->_M_color = std::_S_black;
            sibling->_M_color = std::_S_red;
            rotate(sibling, !is_left, root);
            sibling = is_left ? above->_M_right : above->_M_left;
            far = is_left ? sibling->_M_right : sibling->_M_left;
        }
        sibling->_M_color = above->_M_color;
        above->_M_color = std::_S_black;
        if (far) far->_M_color = std::_S_black;
        rotate(above, is_left, root);
        break;
    }
    if (node) node->_M_color = std::_S_black;
}

}  // namespace

namespace std {

_Rb_tree_node_base *_Rb_tree_increment(_Rb_tree_node_base *node) throw() { return following(node); }

const _Rb_tree_node_base *_Rb_tree_increment(const _Rb_tree_node_base *node) throw() { return following(node); }

_Rb_tree_node_base *_Rb_tree_decrement(_Rb_tree_node_base *node) throw() { return preceding(node); }

const _Rb_tree_node_base *_Rb_tree_decrement(const _Rb_tree_node_base *node) throw() { return preceding(node); }

void _Rb_tree_insert_and_rebalance(const bool is_left, _Rb_tree_node_base *node, _Rb_tree_node_base *parent,
                                   _Rb_tree_node_base &header) throw() {
    Node *&root = header._M_parent;
    node->_M_parent = parent;
    node->_M_left = node->_M_right = 0;
    node->_M_color = _S_red;
    if (is_left) {
        /* Also the header's, if the tree is empty. */
        parent->_M_left = node;
        if (parent == &header) {
            header._M_parent = node;
            header._M_right = node;
        } else if (parent == header._M_left) {
            header._M_left = node;
        }
    } else {
        parent->_M_right = node;
        if (parent == header._M_right) header._M_right = node;
    }
    while (node != root && node->_M_parent->_M_color == _S_red) {
        Node *above = node->_M_parent, *top = above->_M_parent;
        const bool is_left_side = above == top->_M_left;
        Node *uncle = is_left_side ? top->_M_right : top->_M_left;
        if (is_red(uncle)) {
            above->_M_color = uncle->_M_color = _S_black;
            top->_M_color = _S_red;
            node = top;
            continue;
        }
        if (node == (is_left_side ? above->_M_right : above->_M_left)) {
            node = above;
            rotate(node, is_left_side, root);
        }
        node->_M_parent->_M_color = _S_black;
        top->_M_color = _S_red;
        rotate(top, !is_left_side, root);
    }
    root->_M_color = _S_black;
}

_Rb_tree_node_base *_Rb_tree_rebalance_for_erase(_Rb_tree_node_base *const node, _Rb_tree_node_base &header) throw() {
    Node *&root = header._M_parent;
    /* The node that is taken out of its place: `node`, or with two children the next one, which then takes its place. */
    Node *out = node;
    if (node->_M_left && node->_M_right) {
        out = node->_M_right;
        while (out->_M_left) out = out->_M_left;
    }
    Node *below = out->_M_left ? out->_M_left : out->_M_right;
    Node *above = out->_M_parent;
    _Rb_tree_color lost = out->_M_color;
    if (out != node) {
        node->_M_left->_M_parent = out;
        out->_M_left = node->_M_left;
        if (out == node->_M_right) {
            above = out;
        } else {
            if (below) below->_M_parent = above;
            above->_M_left = below;
            out->_M_right = node->_M_right;
            node->_M_right->_M_parent = out;
        }
        link_to(node, root) = out;
        out->_M_parent = node->_M_parent;
        out->_M_color = node->_M_color;
    } else {
        if (below) below->_M_parent = above;
        link_to(node, root) = below;
        if (header._M_left == node) {
            if (node->_M_right) {
                header._M_left = below;
                while (header._M_left->_M_left) header._M_left = header._M_left->_M_left;
            } else {
                header._M_left = above;
            }
        }
        if (header._M_right == node) {
            if (node->_M_left) {
                header._M_right = below;
                while (header._M_right->_M_right) header._M_right = header._M_right->_M_right;
            } else {
                header._M_right = above;
            }
        }
    }
    if (lost == _S_black) restore_black(below, above, root);
    return node;
}

namespace __detail {

void _List_node_base::_M_hook(_List_node_base *const position) noexcept {
    this->_M_next = position;
    this->_M_prev = position->_M_prev;
    position->_M_prev->_M_next = this;
    position->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
    _List_node_base *const after = this->_M_next, *const before = this->_M_prev;
    before->_M_next = after;
    after->_M_prev = before;
}

void _List_node_base::_M_transfer(_List_node_base *const first, _List_node_base *const last) noexcept {
    if (this == last) return;
    _List_node_base *const final = last->_M_prev, *const before = this->_M_prev;
    first->_M_prev->_M_next = last;
    last->_M_prev = first->_M_prev;
    before->_M_next = first;
    first->_M_prev = before;
    final->_M_next = this;
    this->_M_prev = final;
}

void _List_node_base::_M_reverse() noexcept {
    _List_node_base *node = this;
    do {
        _List_node_base *const after = node->_M_next;
        node->_M_next = node->_M_prev;
        node->_M_prev = after;
        node = after;
    } while (node != this);
}

void _List_node_base::swap(_List_node_base &one, _List_node_base &two) noexcept {
    const bool has_one = one._M_next != &one, has_two = two._M_next != &two;
    const _List_node_base old = one;
    if (has_two) {
        one = two;
        one._M_next->_M_prev = one._M_prev->_M_next = &one;
    } else {
        one._M_next = one._M_prev = &one;
    }
    if (has_one) {
        two = old;
        two._M_next->_M_prev = two._M_prev->_M_next = &two;
    } else {
        two._M_next = two._M_prev = &two;
    }
}

}  // namespace __detail

}  // namespace std

#endif
#endif
#endif

/* What an exception says that is not caught: the runtime asks for it before the program ends. */
#if defined(__cpp_exceptions)
#include <exception>

extern "C" void clewline_register_what(long (*what)(char *, long));

namespace {

extern "C" long clewline_what(char *to, long room) {
    try {
        throw;
    } catch (const std::exception &it) {
        const char *text = it.what();
        long length = 0;
        for (; length < room && text[length]; ++length) to[length] = text[length];
        return length;
    } catch (...) {
        return 0;
    }
}

__attribute__((constructor)) void tell_what() { clewline_register_what(clewline_what); }

}  // namespace

#endif
