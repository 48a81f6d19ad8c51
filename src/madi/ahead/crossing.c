/* From Python to a C function of the engine and back, at the cost of a built-in function.

   madi_bind() gives a built-in function (q, v, x, t, out) -> array: it looks at what it is given, calls the entry, and hands
   out what that wrote. Whatever is not plain (another type, a copy to be made, a wrong size, a number that is not finite, a
   quaternion not of unit length, another thread) is answered by None: then Python asks anew, slowly, with messages.

   Python is known by the addresses of the functions below, which the caller hands in (engines/crossing.py): nothing here is
   linked against it, so one library serves all versions, on all systems. All of them belong to the stable ABI (3.11). */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void Object;
typedef struct { /* Py_buffer */
    void *buf;
    Object *obj;
    ptrdiff_t len, itemsize;
    int readonly, ndim;
    char *format;
    ptrdiff_t *shape, *strides, *suboffsets;
    void *internal;
} Buffer;
typedef struct { /* PyMethodDef */
    const char *name;
    Object *(*call)(Object *, Object *const *, ptrdiff_t);
    int flags;
    const char *doc;
} Method;

enum { FASTCALL = 0x80, WRITABLE = 0x1, CONTIGUOUS = 0x38, FORMAT = 0x4 }; /* METH_FASTCALL, PyBUF_... */

typedef struct {
    int (*get_buffer)(Object *, Buffer *, int);
    void (*release_buffer)(Buffer *);
    void (*clear_error)(void);
    double (*as_double)(Object *);
    Object *(*error)(void);
    Object *(*call_object)(Object *, Object *);
    void (*keep)(Object *);
    void (*drop)(Object *);
    Object *(*capsule)(void *, const char *, void *);
    void *(*inside)(Object *, const char *);
    Object *(*function)(Method *, Object *, Object *);
    unsigned long (*thread)(void);
    void *(*release_lock)(void);
    void (*take_lock)(void *);
} Python;

typedef int32_t (*Entry)(double, const double *, const double *, const double *, double *, const int64_t *);

typedef struct { /* what a bound function knows; made and kept by the caller */
    const Python *python;
    Entry entry;
    const int64_t *context;
    const double *zeros;      /* as many as v or x needs */
    Object *empty, *shape;    /* numpy.empty, and a tuple with the shape of the answer as its argument */
    Object *none;
    const int64_t *quaternions; /* where they begin in q */
    int64_t nq, nv, nx, size, ndim, n_quaternions, releases;
    int64_t dims[2];
    double huge, unit;        /* largest number of seconds; how far a squared quaternion may be from 1 */
    uint64_t thread;
} Bound;

static const void *(*inside)(Object *, const char *); /* PyCapsule_GetPointer, the same for all */
#define inside_of(capsule) ((const Bound *)inside(capsule, NULL))

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

static int plain(const Buffer *b) { return b->itemsize == 8 && b->format && b->format[0] == 'd' && b->format[1] == 0; }

static int all_finite(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[k] - x[k]; /* 0 for numbers, NaN for all else */
    return sum == 0.0;
}

/* A vector of n finite numbers, or zeros for None. */
static const double *vector(const Bound *self, Object *given, int64_t n, Buffer *b, int *held) {
    const Python *python = self->python;
    *held = 0;
    if (given == self->none) return self->zeros;
    if (python->get_buffer(given, b, CONTIGUOUS | FORMAT) != 0) {
        python->clear_error();
        return NULL;
    }
    *held = 1;
    return plain(b) && b->ndim == 1 && b->shape[0] == n && all_finite(b->buf, n) ? b->buf : NULL;
}

static int unit_quaternions(const Bound *self, const double *q) {
    for (int64_t k = 0; k < self->n_quaternions; k++) {
        const double *p = q + self->quaternions[k];
        double off = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] - 1.0;
        if (off > self->unit || off < -self->unit) return 0;
    }
    return 1;
}

static int apart(const double *a, int64_t n, const double *b, int64_t m) { return a + n <= b || b + m <= a; }

/* The entry, with arguments that were looked at, into `out`: whether that could take the answer. */
static int answered(const Bound *self, double t, const double *q, const double *v, const double *x, Object *out) {
    const Python *python = self->python;
    Buffer b;
    if (python->get_buffer(out, &b, CONTIGUOUS | FORMAT | WRITABLE) != 0) {
        python->clear_error();
        return 0;
    }
    double *to = b.buf;
    int fits = plain(&b) && b.ndim == self->ndim && apart(to, self->size, q, self->nq) &&
               apart(to, self->size, v, self->nv) && apart(to, self->size, x, self->nx);
    for (int k = 0; fits && k < b.ndim; k++) fits = b.shape[k] == self->dims[k];
    if (fits) {
        void *state = self->releases ? python->release_lock() : NULL;
        memset(to, 0, (size_t)self->size * sizeof(double));
        self->entry(t, q, v, x, to, self->context);
        if (self->releases) python->take_lock(state);
    }
    python->release_buffer(&b);
    return fits;
}

/* A new reference to the answer, or to None. */
static Object *crossing(Object *capsule, Object *const *given, ptrdiff_t count) {
    const Bound *self = inside_of(capsule);
    const Python *python = self->python;
    Object *answer = NULL;
    Buffer of_q, of_v, of_x;
    int held_q = 0, held_v = 0, held_x = 0;
    const double *q, *v, *x;
    if (count == 5 && python->thread() == self->thread && given[0] != self->none) {
        double t = python->as_double(given[3]);
        if (t == -1.0 && python->error()) python->clear_error();
        else if (t < self->huge && t > -self->huge && (q = vector(self, given[0], self->nq, &of_q, &held_q)) &&
                 unit_quaternions(self, q) && (v = vector(self, given[1], self->nv, &of_v, &held_v)) &&
                 (x = vector(self, given[2], self->nx, &of_x, &held_x))) {
            answer = given[4];
            if (answer == self->none) answer = python->call_object(self->empty, self->shape);
            else python->keep(answer);
            if (answer && !answered(self, t, q, v, x, answer)) {
                python->drop(answer);
                answer = NULL;
            }
        }
        if (held_q) python->release_buffer(&of_q);
        if (held_v) python->release_buffer(&of_v);
        if (held_x) python->release_buffer(&of_x);
    }
    if (answer || python->error()) return answer;
    python->keep(self->none);
    return self->none;
}

static Method method = {"evaluate", crossing, FASTCALL, "evaluate(q, v, x, t, out): an array, or None"};

/* The built-in function of what is bound. */
EXPORTED Object *madi_bind(const Bound *self) {
    inside = (const void *(*)(Object *, const char *))self->python->inside;
    Object *capsule = self->python->capsule((void *)self, NULL, NULL);
    if (!capsule) return NULL;
    Object *function = self->python->function(&method, capsule, NULL);
    self->python->drop(capsule);
    return function;
}
