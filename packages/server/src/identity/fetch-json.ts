/** Reads a JSON document of an identity provider: over https, with a limit on size and time, and without redirects. */
import { FlotillaError } from "@flotilla/base";
import type { FetchJson } from "@flotilla/apiserver";
import { createHttp2Transport, readJson, UNTRUSTED_LIMITS } from "@flotilla/client";

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** `ca` is PEM; unset trusts the system's authorities. */
export function createFetchJson(ca: string | undefined): FetchJson {
  return async (url) => {
    const transport = createHttp2Transport({
      server: new URL(url.origin),
      cluster: { only: "issuer" },
      ca,
      userAgent: "flotilla-apiserver",
      requestTimeoutMs: TIMEOUT_MS,
      limits: UNTRUSTED_LIMITS,
    });
    try {
      const { status, body } = await transport.raw(
        { method: "GET", cluster: "issuer", path: `${url.pathname}${url.search}` },
        AbortSignal.timeout(TIMEOUT_MS),
      );
      if (status !== 200) throw new FlotillaError("IssuerKeys", `${url.href} answered ${status}`);
      return await readJson(body, MAX_BYTES);
    } finally {
      await transport.close();
    }
  };
}
