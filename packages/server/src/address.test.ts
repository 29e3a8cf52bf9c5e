import { describe, expect, test } from "vitest";
import { isPublic, planAddress, urlOf } from "./address.ts";
import type { AddressOptions, AddressPlan } from "./address.ts";

const INTERFACES = {
  lo: [{ address: "127.0.0.1", internal: true }],
  eth0: [
    { address: "10.0.0.5", internal: false },
    { address: "fd00::5", internal: false },
    { address: "fe80::1", internal: false },
  ],
  eth1: [{ address: "203.0.113.7", internal: false }],
};

describe("planAddress", () => {
  const cases: Record<string, { options: AddressOptions; want: AddressPlan }> = {
    "listens on loopback alone by default": {
      options: {},
      want: { bind: "127.0.0.1", advertise: "127.0.0.1", isExposed: false, hosts: ["127.0.0.1"], publicAddresses: [] },
    },
    "is exposed behind a load balancer of its machine": {
      options: { advertiseAddress: "hub.example.com" },
      want: {
        bind: "127.0.0.1",
        advertise: "hub.example.com",
        isExposed: true,
        hosts: ["hub.example.com"],
        publicAddresses: [],
      },
    },
    "is exposed when its certificate is for another name than loopback": {
      options: { tlsSans: ["localhost", "hub.example.com"] },
      want: {
        bind: "127.0.0.1",
        advertise: "127.0.0.1",
        isExposed: true,
        hosts: ["127.0.0.1", "localhost", "hub.example.com"],
        publicAddresses: [],
      },
    },
    "is not exposed with more names of loopback": {
      options: { tlsSans: ["localhost", "::1"] },
      want: {
        bind: "127.0.0.1",
        advertise: "127.0.0.1",
        isExposed: false,
        hosts: ["127.0.0.1", "localhost", "::1"],
        publicAddresses: [],
      },
    },
    "advertises the address it listens on": {
      options: { bindAddress: "10.0.0.5" },
      want: { bind: "10.0.0.5", advertise: "10.0.0.5", isExposed: true, hosts: ["10.0.0.5"], publicAddresses: [] },
    },
    "advertises the first outside address when it listens on all, and reports the public ones": {
      options: { bindAddress: "0.0.0.0" },
      want: {
        bind: "0.0.0.0",
        advertise: "10.0.0.5",
        isExposed: true,
        hosts: ["10.0.0.5", "203.0.113.7"],
        publicAddresses: ["203.0.113.7"],
      },
    },
    "covers IPv6 addresses except link-local ones when it listens on ::": {
      options: { bindAddress: "::" },
      want: {
        bind: "::",
        advertise: "10.0.0.5",
        isExposed: true,
        hosts: ["10.0.0.5", "fd00::5", "203.0.113.7"],
        publicAddresses: ["203.0.113.7"],
      },
    },
    "puts the advertised name and the extra names into the certificate": {
      options: { bindAddress: "10.0.0.5", advertiseAddress: "hub.example.com", tlsSans: ["fleet.example.com"] },
      want: {
        bind: "10.0.0.5",
        advertise: "hub.example.com",
        isExposed: true,
        hosts: ["hub.example.com", "10.0.0.5", "fleet.example.com"],
        publicAddresses: [],
      },
    },
  };
  for (const [behaviour, { options, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(planAddress(options, INTERFACES)).toEqual(want);
    });
  }

  test("rejects a bind address that is not an IP address, and names with a port", () => {
    expect(() => planAddress({ bindAddress: "hub" }, {})).toThrow("--bind-address hub is not an IP address");
    expect(() => planAddress({ advertiseAddress: "hub:6443" }, {})).toThrow("'hub:6443' is not a host name");
    expect(() => planAddress({ tlsSans: ["a b"] }, {})).toThrow("'a b' is not a host name");
  });
});

test.each([
  ["8.8.8.8", true],
  ["2001:db8::1", true],
  ["10.1.2.3", false],
  ["172.16.0.1", false],
  ["172.32.0.1", true],
  ["192.168.1.1", false],
  ["100.64.0.1", false],
  ["169.254.1.1", false],
  ["fd12::1", false],
  ["::1", false],
])("isPublic(%s) is %s", (address, want) => {
  expect(isPublic(address)).toBe(want);
});

test("urlOf puts brackets around an IPv6 address", () => {
  expect(urlOf("fd00::5", 6443)).toBe("https://[fd00::5]:6443");
  expect(urlOf("hub.example.com", 443)).toBe("https://hub.example.com:443");
});
