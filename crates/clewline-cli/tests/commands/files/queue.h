struct queue;
struct queue *queue_new(void);
void queue_enq(struct queue *q, long value);
int queue_deq(struct queue *q, long *value);
