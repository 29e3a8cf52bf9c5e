/** Explains why no response arrived and what to try. The original error stays as the cause. */
import { ResponseLimitError, UnreachableError } from "./errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused; check the address and port, and that the server is running",
  ENOTFOUND: "unknown host name; check its spelling and the DNS",
  EAI_AGAIN: "the DNS server does not respond; try again, or use an IP address",
  ETIMEDOUT: "the host does not respond; check routes and firewalls",
  EHOSTUNREACH: "no route to the host; check routes and firewalls",
  ENETUNREACH: "no route to the network; check routes and firewalls",
  ECONNRESET: "the peer closed the connection; check that the port uses TLS, and any proxies in between",
  EPIPE: "the peer closed the connection while the request was being sent",
  EPROTO: "the peer does not use TLS as expected; check the port, and whether the URL should start with http or https",
  ERR_SSL_WRONG_VERSION_NUMBER:
    "the port does not use TLS; check the port, and whether the URL should start with http or https",
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it, and check the clocks",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; check the clocks",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the server's certificate is self-signed and not trusted; set certificate-authority-data to its CA",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the server's CA is not trusted; set certificate-authority-data, or get a newer kubeconfig",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the server's certificate is signed by an untrusted CA; set certificate-authority-data, or get a newer kubeconfig",
  UNABLE_TO_GET_ISSUER_CERT: "the server's certificate is signed by an untrusted CA; set certificate-authority-data",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "the server's certificate is signed by an untrusted CA; set certificate-authority-data",
  CERT_SIGNATURE_FAILURE:
    "the server's certificate was signed by another key of a CA with the same name; get a newer kubeconfig",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another name; use a name that it contains, or set tls-server-name",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    "the server requires a client certificate; set client-certificate-data and client-key-data",
  ERR_HTTP2_STREAM_ERROR: "the server reset the request; try again",
  ERR_STREAM_PREMATURE_CLOSE: "the connection was lost before the response was complete; try again",
};

/** These can also occur after a request was sent; the others only before that. */
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

/** `doing` names the attempted operation: `getting deployments shop/web from https://…`. */
export function explainFailure(doing: string, error: unknown): UnreachableError {
  const advice = ADVICE[codeOf(error) ?? ""];
  if (error instanceof UnreachableError) {
    const { cause, mayHaveArrived } = error;
    const Explained = error instanceof ResponseLimitError ? ResponseLimitError : UnreachableError;
    return new Explained(`${doing}: ${error.message}`, { cause, mayHaveArrived });
  }
  const mayHaveArrived = advice === undefined || AFTER_CONNECTING.has(codeOf(error) ?? "");
  return new UnreachableError(
    advice === undefined ? `${doing} failed; check that the server is running and reachable` : `${doing}: ${advice}`,
    { cause: error, mayHaveArrived },
  );
}
