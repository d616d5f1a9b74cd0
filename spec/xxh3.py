"""XXH3_64bits without a seed, in short Python, for ports whose language has no library of it. vectors.py compares it with one."""

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
MASK = 2**64 - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def fold(a, b):
    """Returns the exclusive or of the two halves of a product of 128 bits."""
    return (a * b & MASK) ^ (a * b >> 64)


def mix(data, at, secret):
    return fold(u64(data, at) ^ u64(SECRET, secret), u64(data, at + 8) ^ u64(SECRET, secret + 8))


def avalanche(x):
    x = (x ^ x >> 37) * 0x165667919E3779F9 & MASK
    return x ^ x >> 32


def avalanche_64(x):
    x = (x ^ x >> 33) * P64[1] & MASK
    x = (x ^ x >> 29) * P64[2] & MASK
    return x ^ x >> 32


def rotate(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def xxh3(data):
    size = len(data)
    if size == 0:
        return avalanche_64(u64(SECRET, 56) ^ u64(SECRET, 64))
    if size <= 3:
        packed = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_64(packed ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if size <= 8:
        x = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        x = (x ^ rotate(x, 49) ^ rotate(x, 24)) * 0x9FB21C651E98DF25 & MASK
        x = (x ^ (x >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return x ^ x >> 28
    if size <= 16:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, size - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        return avalanche(size + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & MASK)
    if size <= 128:
        sum_ = size * P64[0]
        for i in reversed(range((size - 1) // 32 + 1)):
            sum_ += mix(data, 16 * i, 32 * i) + mix(data, size - 16 * (i + 1), 32 * i + 16)
        return avalanche(sum_ & MASK)
    if size <= 240:
        sum_ = avalanche(size * P64[0] + sum(mix(data, 16 * i, 16 * i) for i in range(8)) & MASK)
        sum_ += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16)) + mix(data, size - 16, 119)
        return avalanche(sum_ & MASK)
    return long(data)


def long(data):
    """Names of more than 240 bytes: stripes of 64 bytes, 16 of them in a block."""
    lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def stripe(at, secret):
        for i in range(8):
            value = u64(data, at + 8 * i)
            key = value ^ u64(SECRET, secret + 8 * i)
            lanes[i ^ 1] = lanes[i ^ 1] + value & MASK
            lanes[i] = lanes[i] + (key & 2**32 - 1) * (key >> 32) & MASK

    for number in range((len(data) - 1) // 64):
        stripe(64 * number, number % 16 * 8)
        if number % 16 == 15:
            for i in range(8):
                lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ u64(SECRET, 128 + 8 * i)) * P32[0] & MASK
    stripe(len(data) - 64, 121)
    sum_ = len(data) * P64[0]
    return avalanche(sum_ + sum(fold(lanes[i] ^ u64(SECRET, 11 + 8 * i), lanes[i + 1] ^ u64(SECRET, 19 + 8 * i)) for i in range(0, 8, 2)) & MASK)
