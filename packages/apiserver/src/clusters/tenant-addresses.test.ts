import { isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { blockedAddresses } from "./tenant-addresses.ts";

let own: string[] = [];
const isBlocked = (address: string, { isExposed = true, cluster = "tenant" } = {}): boolean =>
  blockedAddresses({ isExposed, ownAddresses: () => own })(cluster)?.check(
    address,
    isIP(address) === 6 ? "ipv6" : "ipv4",
  ) ?? false;

describe("addresses that no logical cluster may use", () => {
  test.each([
    ["link-local", "169.254.169.254"],
    ["link-local over IPv6", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["the metadata service of AWS over IPv6", "fd00:ec2::254"],
    ["the metadata service of Google Cloud over IPv6", "fd20:ce::254"],
    ["the metadata service of Alibaba Cloud", "100.100.100.200"],
    ["the host's services of Azure", "168.63.129.16"],
    ["multicast", "224.0.0.1"],
    ["a mapped IPv4 address", "::ffff:169.254.169.254"],
    ["NAT64 to a link-local address", "64:ff9b::169.254.169.254"],
    ["NAT64 to a metadata service", "64:ff9b::6464:64c8"],
  ])("%s", (_what, address) => {
    expect(isBlocked(address, { isExposed: false })).toBe(true);
    expect(isBlocked(address, { cluster: HUB })).toBe(false);
  });
});

describe("addresses of the machine, blocked if other machines reach it", () => {
  test.each(["127.0.0.1", "127.8.8.8", "0.0.0.0", "::1", "::", "64:ff9b::127.0.0.1"])("%s", (address) => {
    expect([isBlocked(address), isBlocked(address, { isExposed: false })]).toEqual([true, false]);
  });

  test.each(["192.0.2.2", "::ffff:192.0.2.2", "64:ff9b::c000:202", "2001:db8::2", "2001:0db8:0::2"])(
    "%s of an interface",
    (address) => {
      own = ["192.0.2.2", "2001:db8::2", "fe80::1%eth0"];

      expect([isBlocked(address), isBlocked(address, { isExposed: false })]).toEqual([true, false]);
    },
  );

  test("an address that the machine gets and loses later", () => {
    own = [];
    const blocked = blockedAddresses({ isExposed: true, ownAddresses: () => own })("tenant");
    const answers = [[], ["192.0.2.7"], []].map((addresses) => {
      own = addresses;
      return blocked?.check("192.0.2.7", "ipv4");
    });

    expect(answers).toEqual([false, true, false]);
  });
});

test.each(["192.0.2.9", "10.0.0.1", "2001:db8::9", "64:ff9b::10.0.0.1", "100.100.100.201"])(
  "%s may be used",
  (address) => {
    own = ["192.0.2.2"];

    expect(isBlocked(address)).toBe(false);
  },
);
