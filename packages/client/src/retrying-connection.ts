/**
 * A connection that retries: 429 and 503 after the server's Retry-After, within limits; 401 when there are new
 * credentials; and once a request that the server did not process.
 */
import { sleep } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Credentials, CredentialSource } from "./credentials.ts";
import { codeOf, explainFailure } from "./explain-failure.ts";
import type { HttpConnection } from "./http-connection.ts";
import { NotProcessedError } from "./http-requests.ts";
import type { HttpRequest, HttpResponse } from "./http-requests.ts";
import { untilStopped } from "./until-stopped.ts";

export interface RetryingConnectionOptions {
  connection: HttpConnection;
  token: string | (() => Promise<string>) | undefined;
  credentials: CredentialSource | undefined;
  clock: Clock;
}

export interface RetryingConnection {
  /** Returns the current credentials. Not within a request's deadline: a plugin may have to prompt a user. */
  identityNow(signal: AbortSignal | undefined): Promise<Credentials>;
  /** Sends until a final response arrives or the deadline has passed. Errors start with `doing`. */
  send(doing: string, request: HttpRequest, identity: Credentials, stop: AbortSignal): Promise<HttpResponse>;
}

const MAX_RETRIES = 4;
const MAX_RETRY_AFTER_MS = 10_000;
const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export function createRetryingConnection(options: RetryingConnectionOptions): RetryingConnection {
  const { connection, token, credentials, clock } = options;

  const identityNow = async (signal: AbortSignal | undefined): Promise<Credentials> => {
    signal?.throwIfAborted();
    if (credentials) return signal ? untilStopped(credentials.current(), signal) : credentials.current();
    const bearer = typeof token === "function" ? await token() : token;
    return bearer === undefined ? {} : { token: bearer };
  };

  const send = async (
    doing: string,
    request: HttpRequest,
    used: Credentials,
    stop: AbortSignal,
  ): Promise<HttpResponse> => {
    let identity = used;
    let mayReplace = credentials !== undefined;
    for (let repetition = 0; ; repetition++) {
      let response: HttpResponse;
      try {
        response = await connection.open(withToken(request, identity.token), stop, credentials && identity);
      } catch (error) {
        if (stop.aborted) throw stop.reason;
        if (repetition === 0 && mayRepeat(error, request.method)) continue;
        throw explainFailure(doing, error);
      }
      const other = response.status === 401 && mayReplace ? await otherThan(identity, response, stop) : undefined;
      if (other) {
        mayReplace = false;
        identity = other;
        continue;
      }
      const waitMs = repetition < MAX_RETRIES ? retryAfterMs(response) : undefined;
      if (waitMs === undefined) return response;
      drain(response);
      await sleep(clock, waitMs, stop);
    }
  };

  /** New credentials after a 401. The server did not process the rejected request, so any request may be sent again. */
  const otherThan = async (
    refused: Credentials,
    response: HttpResponse,
    stop: AbortSignal,
  ): Promise<Credentials | undefined> => {
    try {
      const other = credentials && (await untilStopped(credentials.replace(refused), stop));
      if (other) drain(response);
      return other;
    } catch (error) {
      drain(response);
      throw error;
    }
  };

  return { identityNow, send };
}

const withToken = (request: HttpRequest, bearer: string | undefined): HttpRequest =>
  bearer === undefined ? request : { ...request, headers: { ...request.headers, authorization: `Bearer ${bearer}` } };

/** The rest is not needed, and the connection is reused. */
function drain({ body }: HttpResponse): void {
  body.on("error", () => {}).resume();
}

/** Any request may be retried when the server did not process it; reads also when the connection broke. */
function mayRepeat(error: unknown, method: string): boolean {
  if (error instanceof NotProcessedError) return true;
  return READ_METHODS.has(method) && (codeOf(error) === "ECONNRESET" || codeOf(error) === "EPIPE");
}

function retryAfterMs({ status, headers }: HttpResponse): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  // A date, which the header may also carry, announces hours of downtime rather than a delay for this request.
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
}
