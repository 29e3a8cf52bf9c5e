/** IP addresses and networks, parsed as strictly as in Go. */
import type { Row } from "../types/functions.ts";
import { goQuote } from "../values/go-text.ts";
import { CelError, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

/** An address: its family and its bits. */
class CelIp extends CelOpaque {
  readonly typeName = "net.IP";
  readonly family: 4 | 6;
  readonly bits: bigint;
  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }

  override get size(): number {
    return this.family === 4 ? 4 : 16;
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelIp ? this.family === other.family && this.bits === other.bits : NO_SUCH_OVERLOAD;
  }
}

class CelCidr extends CelOpaque {
  readonly typeName = "net.CIDR";
  readonly ip: CelIp;
  readonly prefix: number;
  constructor(ip: CelIp, prefix: number) {
    super();
    this.ip = ip;
    this.prefix = prefix;
  }

  override get size(): number {
    return Math.ceil(this.prefix / 8);
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelCidr ? this.prefix === other.prefix && this.ip.equals(other.ip) : NO_SUCH_OVERLOAD;
  }

  get masked(): CelCidr {
    const free = BigInt(width(this.ip) - this.prefix);
    return new CelCidr(new CelIp(this.ip.family, (this.ip.bits >> free) << free), this.prefix);
  }

  contains(ip: CelIp, prefix = width(ip)): boolean {
    if (ip.family !== this.ip.family || prefix < this.prefix) return false;
    const free = BigInt(width(ip) - this.prefix);
    return ip.bits >> free === this.ip.bits >> free;
  }
}

const width = ({ family }: CelIp): number => (family === 4 ? 32 : 128);

/** An address, or Go's error message. */
function parseAddress(text: string): CelIp | string {
  for (const character of text) {
    if (character === ".") return parseV4(text);
    if (character === ":") return parseV6(text);
    if (character === "%") return problem(text, "missing IPv6 address");
  }
  return problem(text, "unable to parse IP");
}

const problem = (text: string, why: string, at?: string): string =>
  `ParseAddr(${goQuote(text)}): ${why}${at === undefined ? "" : ` (at ${goQuote(at)})`}`;

function parseV4(text: string): CelIp | string {
  const bits = v4Bits(text);
  if (typeof bits === "bigint") return new CelIp(4, bits);
  return problem(text, bits.why, bits.at);
}

function v4Bits(text: string): bigint | { why: string; at?: string } {
  const fields = text.split(".");
  let bits = 0n;
  for (const [index, field] of fields.entries()) {
    if (index > 3) return { why: "IPv4 address too long" };
    if (field === "") return { why: "IPv4 field must have at least one digit", at: fields.slice(index).join(".") };
    if (!/^\d+$/.test(field)) return { why: "unexpected character", at: text.slice(text.search(/[^\d.]/)) };
    if (field.length > 1 && field.startsWith("0")) return { why: "IPv4 field has octet with leading zero" };
    if (field.length > 3 || Number(field) > 255) return { why: "IPv4 field has value >255" };
    bits = (bits << 8n) | BigInt(field);
  }
  return fields.length < 4 ? { why: "IPv4 address too short" } : bits;
}

function parseV6(text: string): CelIp | string {
  if (text.includes("%")) return `IP address ${goQuote(text)} with zone value is not allowed`;
  const groups: bigint[] = [];
  let ellipsis = -1;
  let rest = text;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
    if (rest === "") return new CelIp(6, 0n);
  }
  while (groups.length < 8) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? "";
    if (digits.length > 4) return problem(text, "each group must have 4 or less digits", rest);
    if (digits === "") return problem(text, "each colon-separated field must have at least one digit", rest);
    if (rest[digits.length] === ".") {
      if (ellipsis < 0 && groups.length !== 6)
        return problem(text, "embedded IPv4 address must replace the final 2 fields of the address", rest);
      if (groups.length > 6)
        return problem(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      const bits = v4Bits(rest);
      if (typeof bits !== "bigint") return problem(text, bits.why, bits.at ?? rest);
      groups.push(bits >> 16n, bits & 0xffffn);
      rest = "";
      break;
    }
    groups.push(BigInt(`0x${digits}`));
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (!rest.startsWith(":")) return problem(text, "unexpected character, want colon", rest);
    if (rest.length === 1) return problem(text, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest.startsWith(":")) {
      if (ellipsis >= 0) return problem(text, "multiple :: in address", rest);
      ellipsis = groups.length;
      rest = rest.slice(1);
      if (rest === "") break;
    }
  }
  if (rest !== "") return problem(text, "trailing garbage after address", rest);
  if (groups.length < 8) {
    if (ellipsis < 0) return problem(text, "address string too short");
    groups.splice(ellipsis, 0, ...Array<bigint>(8 - groups.length).fill(0n));
  } else if (ellipsis >= 0) return problem(text, "the :: must expand to at least one field of zeros");
  return new CelIp(
    6,
    groups.reduce((bits, group) => (bits << 16n) | group, 0n),
  );
}

const isMapped = ({ family, bits }: CelIp): boolean => family === 6 && bits >> 32n === 0xffffn;

function parseIp(text: string): CelIp | CelError {
  const address = parseAddress(text);
  if (typeof address === "string") {
    return new CelError(
      address.startsWith("ParseAddr")
        ? `IP Address ${goQuote(text)} parse error during conversion from string: ${address}`
        : address,
    );
  }
  return isMapped(address) ? new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`) : address;
}

function parseCidr(text: string): CelCidr | CelError {
  const twice =
    "network address parse error during conversion from string: network address parse error during conversion from string:";
  const wrong = (why: string): CelError => new CelError(`${twice} netip.ParsePrefix(${goQuote(text)}): ${why}`);
  const slash = text.lastIndexOf("/");
  if (slash < 0) return wrong("no '/'");
  const address = parseAddress(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (typeof address === "string")
    return wrong(address.startsWith("ParseAddr") ? address : "IPv6 zones cannot be present in a prefix");
  if (bits.length > 1 && !/^[1-9]/.test(bits)) return wrong(`bad bits after slash: ${goQuote(bits)}`);
  if (!/^\d{1,19}$/.test(bits)) return wrong(`bad bits after slash: ${goQuote(bits)}`);
  if (Number(bits) > width(address)) return wrong("prefix length out of range");
  if (isMapped(address))
    return new CelError(
      `network address parse error during conversion from string: IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`,
    );
  return new CelCidr(address, Number(bits));
}

/** The canonical form: lower case, the longest run of zero groups compressed. */
function formatIp({ family, bits }: CelIp): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  let [start, length] = [-1, 1];
  for (let index = 0; index < 8; index++) {
    let end = index;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - index > length) [start, length] = [index, end - index];
  }
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  return start < 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

const formatCidr = ({ ip, prefix }: CelCidr): string => `${formatIp(ip)}/${prefix}`;

const isUnspecified = ({ bits }: CelIp): boolean => bits === 0n;
const isLoopback = ({ family, bits }: CelIp): boolean => (family === 4 ? bits >> 24n === 127n : bits === 1n);
const isMulticast = ({ family, bits }: CelIp): boolean =>
  family === 4 ? bits >> 28n === 0xen : bits >> 120n === 0xffn;
const isLinkLocalMulticast = ({ family, bits }: CelIp): boolean =>
  family === 4 ? bits >> 8n === 0xe00000n : ((bits >> 112n) & 0xff0fn) === 0xff02n;
const isLinkLocalUnicast = ({ family, bits }: CelIp): boolean =>
  family === 4 ? bits >> 16n === 0xa9fen : bits >> 118n === 0x3fan;
const isGlobalUnicast = (ip: CelIp): boolean =>
  !(
    isUnspecified(ip) ||
    isLoopback(ip) ||
    isMulticast(ip) ||
    isLinkLocalUnicast(ip) ||
    (ip.family === 4 && ip.bits === 0xffffffffn)
  );

const about =
  (ask: (ip: CelIp) => boolean) =>
  (ip: CelIp): CelValue =>
    ask(ip);

function containsIp(cidr: CelCidr, ip: CelIp | string): CelValue {
  const address = typeof ip === "string" ? parseIp(ip) : ip;
  // cel-go hides the parse error.
  return address instanceof CelError ? NO_SUCH_OVERLOAD : cidr.contains(address);
}

function containsCidr(cidr: CelCidr, other: CelCidr | string): CelValue {
  const network = typeof other === "string" ? parseCidr(other) : other;
  return network instanceof CelError ? network : cidr.contains(network.ip, network.prefix);
}

function isCanonical(text: string): CelValue {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : formatIp(ip) === text;
}

export const addresses: readonly Row[] = [
  ["ip", "string_to_ip", "(string) -> IP", parseIp],
  ["ip", "cidr_ip", "CIDR.() -> IP", (cidr: CelCidr) => cidr.ip],
  ["isIP", "is_ip", "(string) -> bool", (text: string) => !(parseIp(text) instanceof CelError)],
  ["ip.isCanonical", "ip_is_canonical", "(string) -> bool", isCanonical],
  ["family", "ip_family", "IP.() -> int", (ip: CelIp) => ip.family],
  ["isUnspecified", "ip_is_unspecified", "IP.() -> bool", about(isUnspecified)],
  ["isLoopback", "ip_is_loopback", "IP.() -> bool", about(isLoopback)],
  ["isLinkLocalMulticast", "ip_is_link_local_multicast", "IP.() -> bool", about(isLinkLocalMulticast)],
  ["isLinkLocalUnicast", "ip_is_link_local_unicast", "IP.() -> bool", about(isLinkLocalUnicast)],
  ["isGlobalUnicast", "ip_is_global_unicast", "IP.() -> bool", about(isGlobalUnicast)],
  ["string", "ip_to_string", "(IP) -> string", formatIp],
  ["cidr", "string_to_cidr", "(string) -> CIDR", parseCidr],
  ["isCIDR", "is_cidr", "(string) -> bool", (text: string) => !(parseCidr(text) instanceof CelError)],
  ["containsIP", "cidr_contains_ip_string", "CIDR.(string) -> bool", containsIp],
  ["containsIP", "cidr_contains_ip_ip", "CIDR.(IP) -> bool", containsIp],
  ["containsCIDR", "cidr_contains_cidr_string", "CIDR.(string) -> bool", containsCidr],
  ["containsCIDR", "cidr_contains_cidr", "CIDR.(CIDR) -> bool", containsCidr],
  ["prefixLength", "cidr_prefix_length", "CIDR.() -> int", (cidr: CelCidr) => cidr.prefix],
  ["masked", "cidr_masked", "CIDR.() -> CIDR", (cidr: CelCidr) => cidr.masked],
  ["string", "cidr_to_string", "(CIDR) -> string", formatCidr],
];
