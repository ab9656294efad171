"""A small table, and the same as `zstd -19 --check` compressed it: read on every system, by tools/check-systems and
tools/check-wheels."""

import base64

PLAIN = "probs,labels\n" + "".join(f"0.{i * i * 7919 % 9973:04d},{int(i * i * 7919 % 9973 > i * 4801 % 9973)}\n" for i in range(120))
PACKED = base64.b64decode(
    "KLUv/QRoxQoAlhw7FLAnwwENCOmgpEJlkkkmKRPZidedOwAyADIAwupqSgXV0HxdLlGnFPy4Jq4olmXRRFYyxeZpVv38/WMuaYiFDSQUiwobRt"
    "i2woaDAYEAgAHCQQCBQUFnxF414T2t0mRq5Ks11IrWxVpK7vDJ8nzl/nKqcUf7OAlWkUQbZ9rp/yqGZm4SkSnkDhQL19B48i7VRSLetWEsiE6v"
    "w3Otv100tZ6PECESni2Ni+5kLiJ/7J9ZacT2DNkTMesGAwnUqR0dO2Qck5CqS8+7svUoGpk46BuHLiKyk5ASEsVul4pEOfWPeEXTMInr7XlNlQ"
    "l1qCEEFJHf/w3AXNC2ARCi7WDqMGcK8WjHAIUx0boRulMqKuS7dyOCxFrztmvIJL74vIxuxJbvMqCJgnWHtJOlZ8h0IVqk8B3+Q2PJJSOtuKxo"
    "Uuw/FUkqEkupi/Rk4VTnUSDwl7XUrwIfE4AO"
)
