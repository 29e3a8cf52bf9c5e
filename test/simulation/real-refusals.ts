/**
 * How real servers on this machine refuse the hub: with a certificate that has expired or is not valid yet, or a token
 * that they do not know any longer. A fleet on a fake clock waits for no network, so its members answer what these did.
 */
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import { ApiError, createCertificateAuthority, openCertificateAuthority, unauthorized } from "@flotilla/apimachinery";
import { createHttp2Transport } from "@flotilla/client";
import type { RawResponse, Transport } from "@flotilla/client";
import { createAuthenticator } from "../../packages/apiserver/src/http/authenticator.ts";
import { createHttpServer } from "../../packages/apiserver/src/http/server.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

interface Refusing {
  /** When the server's certificate was issued: it is valid for a year. */
  issuedDaysAgo: number;
  token?: string;
}

/** What a request of the hub to such a server fails with. */
export async function realRefusal({ issuedDaysAgo, token }: Refusing): Promise<Error> {
  const authority = await createCertificateAuthority({ clock: createFakeClock(systemClock.now() - 500 * DAY_MS) });
  const issued = createFakeClock(systemClock.now() - issuedDaysAgo * DAY_MS);
  const tls = await openCertificateAuthority(authority, issued).issueServing(["127.0.0.1"]);
  const server = createHttpServer({
    // The member recognizes no user.
    handle: () => Promise.reject(unauthorized()),
    authenticator: createAuthenticator({ clusterPrefix: "example.com:cluster:", tokens: [], anonymous: false }),
    tls: { ...tls, clientCa: authority.certificate },
    log: silentLog,
  });
  const { port } = await server.listen(0);
  const transport = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}`),
    ca: authority.certificate,
    cluster: { only: "far" },
    token: token ?? "",
    clock: systemClock,
  });
  try {
    await transport.send({ verb: "list", path: { cluster: "far", group: "", version: "v1", resource: "nodes" } });
  } catch (error) {
    return error as Error;
  } finally {
    await transport.close();
    await server.close();
  }
  throw new Error("the server has accepted the request");
}

/** A connection on which every request is refused so. */
export function refusing(cause: Error): Transport {
  const refuse = (): Promise<never> => Promise.reject(cause);
  return {
    send: refuse,
    // A raw request has the answer, whatever it is.
    raw: () => (cause instanceof ApiError ? Promise.resolve(answerOf(cause)) : refuse()),
    watch: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    close: () => Promise.resolve(),
  };
}

const answerOf = ({ status }: ApiError): RawResponse => ({
  status: status.code,
  headers: { "content-type": "application/json" },
  body: (async function* () {
    yield new TextEncoder().encode(JSON.stringify(status));
  })(),
});
