/* Wine before 8.13 lacks this library, without which no program of Rust begins. For tests alone: never part of a release. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length > 0x10000 ? 0x10000 : (ULONG)length;
        if (!SystemFunction036(bytes, part))
            return FALSE;
        bytes += part;
        length -= part;
    }
    return TRUE;
}
