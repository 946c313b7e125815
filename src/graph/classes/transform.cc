#include "graph/classes/transform.h"

namespace hoist::graph {
namespace {

uint8_t moved(uint8_t value, int64_t by, int64_t count) {
  return static_cast<uint8_t>(((value + by % count) % count + count) % count);
}

}  // namespace

Components apply(const Transform& transform, Components components) {
  components.scope = moved(components.scope, transform.rotate, 4);
  components.modality = moved(components.modality, transform.triality, 3);
  components.context = moved(components.context, transform.twist, 8);
  if (transform.mirror) components.modality = static_cast<uint8_t>((3 - components.modality) % 3);
  return components;
}

uint8_t apply(const Transform& transform, uint8_t index) {
  return class_of(apply(transform, components(index)));
}

Transform compose(const Transform& first, const Transform& second) {
  // D+k behind a mirror is a mirror behind D-k.
  const int64_t triality = first.mirror ? -second.triality : second.triality;
  return {.rotate = first.rotate + second.rotate,
          .triality = first.triality + triality,
          .twist = first.twist + second.twist,
          .mirror = first.mirror != second.mirror};
}

}  // namespace hoist::graph
