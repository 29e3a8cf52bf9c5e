import { defined } from "@flotilla/base";
/**
 * Parses URLs by Go's rules, which accept relative ones, treat hosts without a scheme as paths, and have their own
 * error messages.
 */

export interface GoUrl {
  scheme: string;
  /** `name:secret`; unset when absent. */
  user?: string;
  /** With the port. Empty unless `//` follows the scheme. */
  host: string;
  query: string;
  fragment: string;
}

/** The URL, or an error message. */
export function parseGoUrl(text: string): GoUrl | { problem: string } {
  const [main, fragment] = cut(text, "#");
  const refused = (problem: string): { problem: string } => ({ problem: `parse ${JSON.stringify(text)}: ${problem}` });
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) return refused("net/url: invalid control character in URL");
  if (main.startsWith(":")) return refused("missing protocol scheme");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(main)?.[1] ?? "";
  const [rest, query] = cut(scheme === "" ? main : main.slice(scheme.length + 1), "?");
  const parts: GoUrl = { scheme: scheme.toLowerCase(), host: "", query, fragment };
  const unread = escapeProblem(fragment, refused);
  if (unread) return unread;
  if (!rest.startsWith("/")) {
    if (scheme !== "") return parts;
    return cut(rest, "/")[0].includes(":")
      ? refused("first path segment in URL cannot contain colon")
      : (escapeProblem(rest, refused) ?? parts);
  }
  if (!rest.startsWith("//") || rest.startsWith("///")) return escapeProblem(rest, refused) ?? parts;
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf("@");
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  const problem =
    (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? "net/url: invalid userinfo" : undefined) ??
    hostProblem(host);
  if (problem !== undefined) return refused(problem);
  return (
    escapeProblem(slash < 0 ? "" : rest.slice(slash), refused) ?? {
      ...parts,
      host,
      ...defined({ user: at >= 0 ? user : undefined }),
    }
  );
}

function cut(text: string, mark: string): [before: string, after: string] {
  const index = text.indexOf(mark);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}

function hostProblem(host: string): string | undefined {
  const bracket = host.startsWith("[") ? host.lastIndexOf("]") : -1;
  if (host.startsWith("[") && bracket < 0) return "missing ']' in host";
  const colon = bracket < 0 ? host.lastIndexOf(":") : bracket + 1;
  const port = colon < 0 ? "" : host.slice(colon);
  if (port !== "" && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  // ASCII characters in a host must not be percent-encoded.
  const escaped = /%(?!25)[0-7][0-9a-fA-F]|%(?![0-9a-fA-F]{2}).{0,2}/.exec(host)?.[0];
  if (escaped !== undefined) return `invalid URL escape ${JSON.stringify(escaped)}`;
  const stray = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0];
  return stray === undefined ? undefined : `invalid character ${JSON.stringify(stray)} in host name`;
}

function escapeProblem(
  path: string,
  refused: (problem: string) => { problem: string },
): { problem: string } | undefined {
  const wrong = /%(?![0-9a-fA-F]{2})/.exec(path);
  return wrong ? refused(`invalid URL escape ${JSON.stringify(path.slice(wrong.index, wrong.index + 3))}`) : undefined;
}
