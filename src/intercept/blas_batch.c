#include "intercept/blas_batch.h"

#include "ops/gemm/cblas.h"

static int64_t integer_at(const struct blas_batch_site* site, const void* integers, int64_t at) {
  return site->gemm.is_wide ? ((const int64_t*)integers)[at] : ((const int32_t*)integers)[at];
}

static void scalar_at(char type, const void* scalars, int64_t at, double to[2]) {
  switch (type) {
    case 's':
      return load_s((const float*)scalars + at, to);
    case 'd':
      return load_d((const double*)scalars + at, to);
    case 'c':
      return load_c((const float*)scalars + 2 * at, to);
    default:
      return load_z((const double*)scalars + 2 * at, to);
  }
}

/* False: none that BLAS knows. */
static bool transpose_at(const struct blas_batch_site* site, const void* options, int64_t at,
                         char* trans) {
  return site->gemm.is_cblas ? read_transpose_number(((const int*)options)[at], trans)
                             : read_transpose((const char*)options + at, trans);
}

static int64_t group_size(const struct blas_batch_site* site, const struct blas_batch* batch,
                          int64_t group) {
  return integer_at(site, batch->sizes, group);
}

blas_function* find_blas_batch(struct blas_batch_site* site, const void* caller) {
  if (__atomic_load_n(&site->is_missing, __ATOMIC_RELAXED)) return NULL;
  blas_function* function = find_blas(&site->original, site->name, caller);
  if (function == NULL) __atomic_store_n(&site->is_missing, true, __ATOMIC_RELAXED);
  return function;
}

/* Whether all of it is worth a look, and has the integers that the name says. */
static bool is_candidate(struct blas_batch_site* site, const struct blas_batch* batch,
                         const void* caller) {
  double work = 0;
  for (int64_t group = 0; group < batch->groups; ++group) {
    work += (double)integer_at(site, batch->m, group) * (double)integer_at(site, batch->n, group) *
            (double)integer_at(site, batch->k, group) * (double)group_size(site, batch, group);
  }
  if (!is_large_work(work)) return false;
  blas_function* function = find_blas_batch(site, caller);
  return function == NULL || has_integers_of(&site->gemm, function, &site->checked);
}

static void swap(struct hoist_blas_items* left, struct hoist_blas_items* right) {
  const struct hoist_blas_items kept = *left;
  *left = *right;
  *right = kept;
}

/* A row-major product is the column-major one of the transposes: C' = op(B)' op(A)'. */
static void transpose_product(struct hoist_blas_call* call) {
  set_sizes(call, call->n, call->m, call->k);
  const char trans = call->trans_a;
  call->trans_a = call->trans_b;
  call->trans_b = trans;
  const struct hoist_blas_batch batch = call->batch;
  set_matrices(call, call->b, call->ldb, call->a, call->lda, call->c, call->ldc);
  call->batch = batch;
  swap(&call->batch.a, &call->batch.b);
}

/* The call for a group; false: options that BLAS reports. */
static bool make_call(const struct blas_batch_site* site, const struct blas_batch* batch,
                      int64_t group, int64_t first, struct hoist_blas_call* call) {
  *call = (struct hoist_blas_call){.routine = HOIST_BLAS_GEMM, .type = site->gemm.type};
  bool is_column_major = true;
  const bool has_layout = read_layout(batch->layout, &is_column_major);
  bool is_known = has_layout;
  is_known &= transpose_at(site, batch->trans_a, group, &call->trans_a);
  is_known &= transpose_at(site, batch->trans_b, group, &call->trans_b);
  set_sizes(call, integer_at(site, batch->m, group), integer_at(site, batch->n, group),
            integer_at(site, batch->k, group));
  scalar_at(site->gemm.type, batch->alpha, group, call->alpha);
  scalar_at(site->gemm.type, batch->beta, group, call->beta);
  const int64_t lda = integer_at(site, batch->lda, group);
  const int64_t ldb = integer_at(site, batch->ldb, group);
  const int64_t ldc = integer_at(site, batch->ldc, group);
  const int64_t count = group_size(site, batch, group);
  if (batch->is_strided) {
    set_matrices(call, batch->first_a, lda, batch->first_b, ldb, batch->first_c, ldc);
    call->batch =
        (struct hoist_blas_batch){count, batch->strided_a, batch->strided_b, batch->strided_c};
  } else if (count > 0) {
    set_matrices(call, batch->a[first], lda, batch->b[first], ldb, batch->c[first], ldc);
    call->batch.count = count;
    call->batch.a.items = batch->a + first;
    call->batch.b.items = batch->b + first;
    call->batch.c.items = (const void* const*)(batch->c + first);
  }
  if (!is_column_major) transpose_product(call);
  if (!has_layout) call->trans_a = call->trans_b = '\0'; /* which BLAS reports, too */
  return is_known;
}

/* Whether the engine did all products of group `group`, whose first is product `first` of all. */
static bool offer_group(struct blas_batch_site* site, const struct blas_batch* batch, int64_t group,
                        int64_t first, const void* caller) {
  struct hoist_blas_call call;
  if (group_size(site, batch, group) <= 0) return false;
  if (!make_call(site, batch, group, first, &call)) return false;
  if (!is_large_work((double)call.m * (double)call.n * (double)call.k * (double)call.batch.count)) {
    return false;
  }
  return offer_blas(&site->gemm, &call, caller);
}

static const void* item(const void* first, const struct hoist_blas_items* items, int64_t at,
                        size_t element) {
  if (items->items != NULL) return items->items[at];
  return (const char*)first + at * items->stride * (int64_t)element;
}

/* Groups [group, end) by the program's gemm. */
static void run_products(struct blas_batch_site* site, const struct blas_batch* batch,
                         int64_t group, int64_t end, int64_t first, const void* caller) {
  const char type = site->gemm.type;
  const size_t element = type == 's' ? 4 : type == 'z' ? 16 : 8;
  blas_function* gemm = need_blas(&site->gemm.original, site->gemm.name, caller);
  const struct blas_original original = make_blas_original(gemm, site->gemm.is_cblas, type);
  for (; group < end; ++group) {
    struct hoist_blas_call call;
    /* What BLAS reports, gemm does for each product. */
    (void)make_call(site, batch, group, first, &call);
    const int64_t count = group_size(site, batch, group);
    for (int64_t at = 0; at < count; ++at) {
      struct hoist_blas_call product = call;
      product.a = item(call.a, &call.batch.a, at, element);
      product.b = item(call.b, &call.batch.b, at, element);
      product.c = (void*)item(call.c, &call.batch.c, at, element);
      original.base.run(&original.base, &product);
    }
    first += count > 0 ? count : 0;
  }
}

static const void* from(const void* array, int64_t at, size_t element) {
  return array == NULL ? NULL : (const char*)array + (size_t)at * element;
}

/* Groups [group, end) by the program's routine for batches. */
static void run_groups(const struct blas_batch_site* site, blas_function* function,
                       const struct blas_batch* batch, int64_t group, int64_t end, int64_t first,
                       const size_t lengths[2]) {
  typedef const void* const* items;
  const size_t width = site->gemm.is_wide ? sizeof(int64_t) : sizeof(int32_t);
  const size_t option = site->gemm.is_cblas ? sizeof(int) : 1;
  const size_t element = site->gemm.type == 's' ? 4 : site->gemm.type == 'z' ? 16 : 8;
  const int64_t groups = end - group;
  pointer trans_a = from(batch->trans_a, group, option);
  pointer trans_b = from(batch->trans_b, group, option);
  pointer m = from(batch->m, group, width);
  pointer n = from(batch->n, group, width);
  pointer k = from(batch->k, group, width);
  pointer alpha = from(batch->alpha, group, element);
  pointer beta = from(batch->beta, group, element);
  pointer lda = from(batch->lda, group, width);
  pointer ldb = from(batch->ldb, group, width);
  pointer ldc = from(batch->ldc, group, width);
  pointer sizes = from(batch->sizes, group, width);
  items a = from(batch->a, first, sizeof *a);
  items b = from(batch->b, first, sizeof *b);
  void* const* c = from(batch->c, first, sizeof *c);
  if (site->gemm.is_cblas) {
    ((void (*)(int, pointer, pointer, pointer, pointer, pointer, pointer, items, pointer, items,
               pointer, pointer, void* const*, pointer, int64_t, pointer))function)(
        batch->layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups,
        sizes);
  } else {
    ((void (*)(pointer, pointer, pointer, pointer, pointer, pointer, items, pointer, items, pointer,
               pointer, void* const*, pointer, const int64_t*, pointer, size_t, size_t))function)(
        trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &groups, sizes, lengths[0],
        lengths[1]);
  }
}

static void run_originals(struct blas_batch_site* site, const struct blas_batch* batch,
                          int64_t group, int64_t end, int64_t first, const size_t lengths[2],
                          const void* caller) {
  blas_function* function = find_blas_batch(site, caller);
  if (function != NULL) {
    run_groups(site, function, batch, group, end, first, lengths);
  } else {
    run_products(site, batch, group, end, first, caller);
  }
}

void run_batch(struct blas_batch_site* site, const struct blas_batch* batch,
               const size_t lengths[2], const void* caller) {
  if (!is_candidate(site, batch, caller)) {
    return run_originals(site, batch, 0, batch->groups, 0, lengths, caller);
  }
  /* [left, group), from product left_first on, is the original's. */
  int64_t left = 0;
  int64_t left_first = 0;
  int64_t first = 0;
  for (int64_t group = 0; group < batch->groups; ++group) {
    const int64_t size = group_size(site, batch, group);
    const int64_t next = first + (size > 0 ? size : 0);
    if (offer_group(site, batch, group, first, caller)) {
      if (left < group) {
        const void* frame = enter_blas();
        run_originals(site, batch, left, group, left_first, lengths, caller);
        leave_blas(frame);
      }
      left = group + 1;
      left_first = next;
    }
    first = next;
  }
  if (left == batch->groups) return;
  const void* frame = enter_blas();
  run_originals(site, batch, left, batch->groups, left_first, lengths, caller);
  leave_blas(frame);
}

bool run_strided_batch(struct blas_batch_site* site, const struct blas_batch* batch,
                       const void* caller) {
  if (is_candidate(site, batch, caller) && offer_group(site, batch, 0, 0, caller)) return true;
  if (find_blas_batch(site, caller) != NULL) return false;
  const void* frame = enter_blas();
  run_products(site, batch, 0, 1, 0, caller);
  leave_blas(frame);
  return true;
}
