/*
 * A whole program, for `clewline run`: two threads move money between two accounts.
 *
 * BUG_ORDER: each locks the account that it takes from first, and the two may wait for each other
 * forever. BUG_UNLOCKED: one does not lock, and money is lost or made.
 */
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 100},
};

static void *transfer(void *argument) {
    long from = (long)argument, to = 1 - from;
#ifdef BUG_ORDER
    long first = from;
#else
    long first = 0;
#endif
#ifdef BUG_UNLOCKED
    if (from == 0) {
        accounts[from].balance -= 10;
        accounts[to].balance += 10;
        return 0;
    }
#endif
    pthread_mutex_lock(&accounts[first].lock);
    pthread_mutex_lock(&accounts[1 - first].lock);
    accounts[from].balance -= 10;
    accounts[to].balance += 10;
    pthread_mutex_unlock(&accounts[1 - first].lock);
    pthread_mutex_unlock(&accounts[first].lock);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, transfer, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(accounts[0].balance + accounts[1].balance == 200);
    return 0;
}
