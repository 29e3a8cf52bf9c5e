/**
 * The address of a store in etcd: `etcd://host:2379,host2:2379/prefix`, or `etcds://` with TLS. A name and password stand
 * before the hosts, as in any URL.
 */
import { UsageError } from "@flotilla/base";

export interface EtcdAddress {
  endpoints: readonly URL[];
  /** Before every key, without a slash at its end. */
  prefix: string;
  user?: { name: string; password: string };
}

const FORM = /^(etcds?):\/\/(?:([^@/]*)@)?([^/?#]+)(\/[^?#]*)?$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT = "2379";
const DEFAULT_PREFIX = "/flotilla";

/** Throws `UsageError`, without the password. Pure. */
export function parseEtcdAddress(text: string): EtcdAddress {
  const match = FORM.exec(text);
  if (!match)
    throw new UsageError(
      "--store must be etcd://HOST:PORT[,HOST:PORT…][/PREFIX], or etcds://… for TLS; NAME@ before the hosts is the etcd user",
    );
  const [, scheme, credentials, hosts = "", path = ""] = match;
  const endpoints = hosts.split(",").map((host) => {
    const [, name, port = DEFAULT_PORT] = HOST.exec(host) ?? [];
    if (name === undefined || Number(port) < 1 || Number(port) > 65_535)
      throw new UsageError(`--store: "${host}" is not a host with an optional port, such as etcd1:2379`);
    return new URL(`${scheme === "etcds" ? "https" : "http"}://${name}:${port}`);
  });
  const prefix = path.replace(/\/+$/, "");
  return { endpoints, prefix: prefix === "" ? DEFAULT_PREFIX : prefix, user: parseCredentials(credentials) };
}

function parseCredentials(text: string | undefined): EtcdAddress["user"] {
  if (text === undefined) return undefined;
  const [name = "", ...rest] = text.split(":");
  if (name === "")
    throw new UsageError(
      "--store must be etcd://NAME@HOST:PORT; put the password into the file of --store-password-file",
    );
  try {
    return { name: decodeURIComponent(name), password: decodeURIComponent(rest.join(":")) };
  } catch {
    throw new UsageError("--store: the name or password is not percent-encoded correctly");
  }
}
