/** Selects the proxy for a server: the kubeconfig's, or the environment's. Pure. */
import { BlockList, isIP } from "node:net";
import { UsageError } from "@flotilla/base";

export type Environment = Readonly<Record<string, string | undefined>>;

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "socks5:", "socks5h:"]);

export function parseProxyUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Not quoted: it may hold a password.
  if (!url || !SCHEMES.has(url.protocol) || url.hostname === "")
    throw new UsageError(`${where} is not a proxy URL; it must be an http://, https:// or socks5:// URL`);
  return url;
}

/**
 * As Go programs do: `HTTPS_PROXY` or `HTTP_PROXY` by the scheme of the server, unless `NO_PROXY` or loopback requires
 * a direct connection.
 */
export function proxyFromEnvironment(server: URL, environment: Environment): URL | undefined {
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = valueOf(environment, name);
  if (value === "") return undefined;
  const host = bare(server.hostname).toLowerCase();
  if (host === "localhost" || isLoopback(host)) return undefined;
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  if (isExempt(host, port, valueOf(environment, "NO_PROXY"))) return undefined;
  // A bare host and port means an HTTP proxy.
  return parseProxyUrl(value.includes("://") ? value : `http://${value}`, `the environment variable ${name}`);
}

function valueOf(environment: Environment, name: string): string {
  return environment[name] || environment[name.toLowerCase()] || "";
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
  return isIP(host) !== 0 && LOOPBACK.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** `NO_PROXY`: addresses, networks, and domains that include their subdomains, each with an optional port. */
function isExempt(host: string, port: string, list: string): boolean {
  return list.split(",").some((item) => {
    const entry = item.trim().toLowerCase();
    if (entry === "") return false;
    if (entry === "*") return true;
    if (entry.includes("/")) return isInNetwork(host, entry);
    const [, name = "", wantedPort] = /^(\[[^\]]*\]|[^:]*|[^[\]]*:[^[\]]*:[^[\]]*)(?::(\d+))?$/.exec(entry) ?? [];
    if (wantedPort !== undefined && wantedPort !== port) return false;
    const wanted = bare(name);
    if (isIP(wanted)) return wanted === host;
    if (wanted.startsWith("*.")) return host.endsWith(wanted.slice(1));
    if (wanted.startsWith(".")) return host.endsWith(wanted);
    return wanted !== "" && (host === wanted || host.endsWith(`.${wanted}`));
  });
}

function isInNetwork(host: string, network: string): boolean {
  const [address = "", prefix = ""] = network.split("/");
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 6 ? 128 : 32))
    return false;
  const block = new BlockList();
  block.addSubnet(address, Number(prefix), familyOf(address));
  return block.check(host, familyOf(host));
}
