/** Requests to the console server. The cookie is not readable here; the token against forged requests is. */

export interface SessionInfo {
  csrf: string;
  user: string;
  groups: readonly string[];
  server: string;
  signIn: "code" | "token";
}

export type SignIn = { session: SessionInfo } | { ask: "code" | "token"; message: string };

let csrf = "";
let onEnd: (message: string) => void = () => {};

export class RequestError extends Error {
  readonly status: number;
  readonly details: unknown;
  constructor(status: number, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** Called once, when a request is refused because the session is over. */
export const whenSessionEnds = (listener: (message: string) => void): void => void (onEnd = listener);
export const endSession = (message: string): void => onEnd(message);

/** Signs in with the code of the link, which is removed from the address first; otherwise continues the session. */
export async function openSession(): Promise<SignIn> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  let message = "";
  if (code !== undefined) {
    history.replaceState(null, "", "#/fleet");
    const answer = await signIn({ code });
    if ("session" in answer) return answer;
    ({ message } = answer);
  }
  const response = await fetch("session", { headers: { accept: "application/json" } });
  const body = (await response.json()) as SessionInfo & { signIn: "code" | "token" };
  if (!response.ok) return { ask: body.signIn, message };
  csrf = body.csrf;
  return { session: body };
}

export async function signIn(given: { code: string } | { token: string }): Promise<SignIn> {
  const response = await fetch("session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(given),
  });
  const body = (await response.json()) as SessionInfo & { message: string };
  if (!response.ok) return { ask: "code" in given ? "code" : "token", message: body.message };
  csrf = body.csrf;
  return { session: body };
}

export async function signOut(): Promise<void> {
  await fetch("session", { method: "DELETE", headers: { "x-flotilla-csrf": csrf } });
  onEnd("");
}

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  type?: string;
  accept?: string;
  signal?: AbortSignal;
}

/** Answers of the console's own requests, such as `plan`, and of the hub below `hub/`. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const { method = "GET", body, type = "application/json", accept = "application/json", signal } = options;
  const response = await fetch(`api/${path}`, {
    method,
    headers: method === "GET" ? { accept } : { accept, "content-type": type, "x-flotilla-csrf": csrf },
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
    signal: signal ?? null,
  });
  const text = await response.text();
  const parsed =
    (response.headers.get("content-type") ?? "").includes("json") && text !== "" ? (JSON.parse(text) as unknown) : text;
  if (response.ok) return parsed as T;
  const message = messageIn(parsed) || `${response.status} ${response.statusText}`;
  // The hub answers 401 when a token has expired; a proxied member has users of its own.
  if (response.status === 401 && !path.includes("/proxy")) onEnd(message);
  throw new RequestError(response.status, message, parsed);
}

const messageIn = (value: unknown): string =>
  typeof value === "object" && value !== null && "message" in value
    ? String(value.message)
    : typeof value === "string"
      ? value
      : "";

export const hub = <T>(path: string, options?: RequestOptions): Promise<T> => request<T>(`hub${path}`, options);
