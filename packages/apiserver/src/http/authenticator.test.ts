import { describe, expect, test } from "vitest";
import type { UserInfo } from "../request/user-info.ts";
import { createAuthenticator } from "./authenticator.ts";

const cluster = "hub";
const clusterPrefix = "example.com:cluster:";
const authenticator = createAuthenticator({
  clusterPrefix,
  tokens: [
    { token: "s3cret", user: "robot", groups: ["robots"], uid: "7" },
    { token: "paris-only", user: "admin", groups: ["system:masters"], cluster: "paris" },
  ],
});

/** The user, whether it is known at once or later. */
const identify = async (
  credentials: Parameters<typeof authenticator.authenticate>[0],
  by = authenticator,
): Promise<UserInfo | undefined> => by.authenticate(credentials);

describe("authenticator", () => {
  test("a client certificate names the user and the groups", async () => {
    const user = await identify({
      cluster,
      certificate: { commonName: "alice", organizations: ["system:masters"] },
    });

    expect(user).toEqual({ name: "alice", groups: ["system:masters", "system:authenticated"] });
  });

  test("a known token identifies its user", async () => {
    expect(await identify({ cluster, bearerToken: "s3cret" })).toEqual({
      name: "robot",
      uid: "7",
      groups: ["robots", "system:authenticated"],
    });
  });

  test("a certificate wins over a token, as in Kubernetes", async () => {
    const user = await identify({
      cluster,
      certificate: { commonName: "alice", organizations: [] },
      bearerToken: "wrong",
    });

    expect(user?.name).toBe("alice");
  });

  test("a request without credentials is rejected, unless anonymous access is enabled", async () => {
    await expect(identify({ cluster })).rejects.toMatchObject({ status: { code: 401 } });

    expect(await identify({ cluster }, createAuthenticator({ clusterPrefix, anonymous: true }))).toBeUndefined();
  });

  test("an invalid token is rejected, even when anonymous access is enabled", async () => {
    for (const anonymous of [false, true]) {
      const lenient = createAuthenticator({ clusterPrefix, tokens: [{ token: "s3cret", user: "robot" }], anonymous });

      await expect(identify({ cluster, bearerToken: "s3cret " }, lenient)).rejects.toMatchObject({
        status: { code: 401, reason: "Unauthorized" },
      });
    }
  });

  test("a certificate without a common name is rejected", async () => {
    await expect(
      identify({ cluster, certificate: { commonName: "", organizations: ["system:masters"] } }),
    ).rejects.toMatchObject({ status: { code: 401 } });
  });

  test("a token for one cluster is rejected in others", async () => {
    expect(await identify({ cluster: "paris", bearerToken: "paris-only" })).toMatchObject({
      name: "admin",
    });

    await expect(identify({ cluster: "oslo", bearerToken: "paris-only" })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });

  test("a certificate for one cluster is rejected in others, and its cluster organization is not a group", async () => {
    const certificate = { commonName: "admin", organizations: ["system:masters", "example.com:cluster:paris"] };

    expect(await identify({ cluster: "paris", certificate })).toEqual({
      name: "admin",
      groups: ["system:masters", "system:authenticated"],
    });
    await expect(identify({ cluster: "oslo", certificate })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });
});

describe("the home of credentials", () => {
  const home = (credentials: Parameters<NonNullable<typeof authenticator.homeOf>>[0]) =>
    authenticator.homeOf?.(credentials);

  test("is the cluster that a token is for", async () => {
    expect(await home({ bearerToken: "paris-only" })).toBe("paris");
  });

  test("is the cluster of the certificate request, or the one that the organization names", async () => {
    expect(await home({ certificate: { commonName: "a", organizations: [], cluster: "rome.2.17" } })).toBe("rome.2");
    expect(await home({ certificate: { commonName: "a", organizations: ["example.com:cluster:oslo"] } })).toBe("oslo");
  });

  test("is unknown for credentials of all clusters, of several, and of none", async () => {
    expect(await home({ bearerToken: "s3cret" })).toBeUndefined();
    expect(await home({ bearerToken: "wrong" })).toBeUndefined();
    expect(
      await home({
        certificate: { commonName: "a", organizations: ["example.com:cluster:oslo", "example.com:cluster:rome"] },
      }),
    ).toBeUndefined();
  });
});
