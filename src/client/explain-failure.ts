/** Says in words why no answer came and what to try. The original error stays as the cause. */
import { UnreachableError } from "./errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; check the address and port, and that the server runs",
  ENOTFOUND: "the host name is unknown; check its spelling and the DNS",
  EAI_AGAIN: "the DNS does not answer; try again, or use an address",
  ETIMEDOUT: "the host does not answer; check routes and firewalls",
  EHOSTUNREACH: "there is no route to the host; check routes and firewalls",
  ENETUNREACH: "there is no route to the network; check routes and firewalls",
  ECONNRESET: "the peer closed the connection; check that the port speaks TLS, and what stands between",
  EPIPE: "the peer closed the connection while the request was being sent",
  EPROTO:
    "the peer does not speak TLS as expected; check the port, and that the address starts with the right one of http and https",
  ERR_SSL_WRONG_VERSION_NUMBER:
    "the port does not speak TLS; check it, and that the address starts with the right one of http and https",
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it, and compare the clocks",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; compare the clocks",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the server's certificate is self-signed and not trusted; give its CA with certificate-authority-data",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the server's CA is not trusted; give it with certificate-authority-data, or take a newer kubeconfig",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the server's certificate comes from a CA that is not trusted; give it with certificate-authority-data, or take a newer kubeconfig",
  UNABLE_TO_GET_ISSUER_CERT:
    "the server's certificate comes from a CA that is not trusted; give it with certificate-authority-data",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "the server's certificate comes from a CA that is not trusted; give it with certificate-authority-data",
  CERT_SIGNATURE_FAILURE:
    "the server's certificate was signed by another key of a CA with the same name; take a newer kubeconfig",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another name; use a name that it lists, or set tls-server-name",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    "the server wants a client certificate; set client-certificate-data and client-key-data",
  ERR_HTTP2_STREAM_ERROR: "the server gave the request up; try again",
  ERR_STREAM_PREMATURE_CLOSE: "the connection was lost before the answer was complete; try again",
};

/** These may also happen once a request was sent; the others are met before that. */
const AFTER_CONNECTING: ReadonlySet<string> = new Set([
  "ETIMEDOUT",
  "ECONNRESET",
  "EPIPE",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** `doing` is what was attempted: `getting deployments shop/web from https://…`. */
export function explainFailure(doing: string, error: unknown): UnreachableError {
  const advice = ADVICE[codeOf(error) ?? ""];
  if (error instanceof UnreachableError)
    return new UnreachableError(`${doing}: ${error.message}`, {
      cause: error.cause,
      mayHaveArrived: error.mayHaveArrived,
    });
  const mayHaveArrived = advice === undefined || AFTER_CONNECTING.has(codeOf(error) ?? "");
  return new UnreachableError(
    advice === undefined ? `${doing} failed; check that the server runs and is reachable` : `${doing}: ${advice}`,
    { cause: error, mayHaveArrived },
  );
}
