// The functions of fmt, compiled once: its shared library would cost every start of an engine
// 0.1 ms, and its header-only form every source file five seconds of compilation under a sanitizer.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What core.h and format.h declare and leave to the library.
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
