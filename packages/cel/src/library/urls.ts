/** URLs, parsed by Go's rules for a request URI: absolute, or a path that starts with a slash. */
import { ArrayList, HashMap } from "../values/collections.ts";
import type { Row } from "../types/functions.ts";
import { goQuote } from "../values/go-text.ts";
import { CelError, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

class CelUrl extends CelOpaque {
  readonly typeName = "kubernetes.URL";
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  constructor(text: string, parts: Pick<CelUrl, "scheme" | "host" | "path" | "query">) {
    super();
    this.text = text;
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelUrl ? this.text === other.text : NO_SUCH_OVERLOAD;
  }
}

/** The error, as Go prints it after the URL. */
class UrlParseError extends Error {}

/** The URL, or an error message. */
export function parseUrl(text: string): CelUrl | string {
  try {
    // The fragment counts as part of the path while the request URI is checked, and is ignored afterwards.
    readParts(text);
    return new CelUrl(text, readParts(text.split("#", 1)[0] ?? ""));
  } catch (error) {
    if (error instanceof UrlParseError) return `parse ${goQuote(text)}: ${error.message}`;
    throw error;
  }
}

function readParts(text: string): Pick<CelUrl, "scheme" | "host" | "path" | "query"> {
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlParseError("net/url: invalid control character in URL");
  if (text === "") throw new UrlParseError("empty url");
  if (text.startsWith(":")) throw new UrlParseError("missing protocol scheme");
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? "";
  const afterScheme = scheme === "" ? text : text.slice(scheme.length + 1);
  const question = afterScheme.indexOf("?");
  const query = question < 0 ? "" : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const parts = { scheme: scheme.toLowerCase(), host: "", path: "", query };
  if (!rest.startsWith("/")) {
    if (scheme === "") throw new UrlParseError("invalid URI for request");
    return parts;
  }
  if (scheme === "" || !rest.startsWith("//")) return { ...parts, path: checkedEscapes(rest) };
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return { ...parts, host: readHost(authority), path: slash < 0 ? "" : checkedEscapes(rest.slice(slash)) };
}

function readHost(authority: string): string {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at)))
    throw new UrlParseError("net/url: invalid userinfo");
  if (at >= 0) checkedEscapes(authority.slice(0, at));
  const host = authority.slice(at + 1);
  const bracket = host.startsWith("[") ? host.lastIndexOf("]") : -1;
  if (host.startsWith("[") && bracket < 0) throw new UrlParseError("missing ']' in host");
  const colon = bracket < 0 ? host.lastIndexOf(":") : bracket + 1;
  const port = colon < 0 ? "" : host.slice(colon);
  if (port !== "" && !/^:\d*$/.test(port)) throw new UrlParseError(`invalid port ${goQuote(port)} after host`);
  for (const [index, character] of Array.from(host).entries()) {
    if (character === "%") {
      const escape = host.slice(index, index + 3);
      if (!/^%(25|[89a-fA-F][0-9a-fA-F])$/.test(escape) || (escape === "%25" && bracket < 0))
        throw new UrlParseError(`invalid URL escape ${goQuote(escape)}`);
    } else if (character.charCodeAt(0) < 0x80 && !/[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]/.test(character))
      throw new UrlParseError(`invalid character ${goQuote(character)} in host name`);
  }
  return decode(host);
}

/** The text, after checking that every percent sign starts an escape. */
function checkedEscapes(text: string): string {
  const wrong = /%(?![0-9a-fA-F]{2})/.exec(text);
  if (wrong) throw new UrlParseError(`invalid URL escape ${goQuote(text.slice(wrong.index, wrong.index + 3))}`);
  return text;
}

function decode(text: string): string {
  return Buffer.from(
    text
      .replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => `\0${hex}`)
      .replaceAll(/[^\0]|\0../gsu, (part) =>
        part.startsWith("\0") ? part.slice(1) : Buffer.from(part).toString("hex"),
      ),
    "hex",
  ).toString();
}

const PATH_CHARACTER = /[A-Za-z0-9\-._~!$&'()*+,;=:@/]/;

function escapedPath({ path, scheme, host }: CelUrl): string {
  if (path === "*" && scheme === "" && host === "") return path;
  if (/^[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path;
  return Array.from(decode(path), (character) =>
    PATH_CHARACTER.test(character) ? character : escapeBytes(character),
  ).join("");
}

const escapeBytes = (character: string): string =>
  Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

function hostname({ host }: CelUrl): string {
  const bracketed = /^\[(.*)\](?::\d*)?$/.exec(host);
  return bracketed ? (bracketed[1] ?? "") : host.replace(/:[^:]*$/, "");
}

function port({ host }: CelUrl): string {
  return /(?:^\[.*\]|^[^[]*?):(\d*)$/.exec(host)?.[1] ?? "";
}

function query({ query: text }: CelUrl): CelValue {
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    if (pair === "" || pair.includes(";") || /%(?![0-9a-fA-F]{2})/.test(pair)) continue;
    const equals = pair.indexOf("=");
    const [key, value] = (equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)]).map((part) =>
      decode(part.replaceAll("+", " ")),
    );
    const found = values.get(key ?? "");
    if (found) found.push(value ?? "");
    else values.set(key ?? "", [value ?? ""]);
  }
  const result = new HashMap();
  for (const [key, list] of values) result.set(key, new ArrayList(list));
  return result;
}

function toUrl(text: string): CelValue {
  const url = parseUrl(text);
  return typeof url === "string" ? new CelError(`URL parse error during conversion from string: ${url}`) : url;
}

export const urls: readonly Row[] = [
  ["url", "string_to_url", "(string) -> URL", toUrl],
  ["isURL", "is_url_string", "(string) -> bool", (text: string) => typeof parseUrl(text) !== "string"],
  ["getScheme", "url_get_scheme", "URL.() -> string", ({ scheme }: CelUrl) => scheme],
  ["getHost", "url_get_host", "URL.() -> string", ({ host }: CelUrl) => host],
  ["getHostname", "url_get_hostname", "URL.() -> string", hostname],
  ["getPort", "url_get_port", "URL.() -> string", port],
  ["getEscapedPath", "url_get_escaped_path", "URL.() -> string", escapedPath],
  ["getQuery", "url_get_query", "URL.() -> map(string, list(string))", query],
];
