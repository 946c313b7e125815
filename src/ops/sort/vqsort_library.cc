// libhoist_vqsort.so: Highway's vectorised quicksort behind a C name.
#include <hwy/contrib/sort/vqsort.h>

#include <cstddef>

extern "C" __attribute__((visibility("default"))) void hoist_vqsort_u128(hwy::uint128_t* keys,
                                                                         size_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}
