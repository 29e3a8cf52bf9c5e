import { describe, expect, test } from "vitest";
import { clusterOrganization, createAuthenticator } from "./authenticator.ts";

const cluster = "hub";
const authenticator = createAuthenticator({
  tokens: [
    { token: "s3cret", user: "robot", groups: ["robots"], uid: "7" },
    { token: "paris-only", user: "admin", groups: ["system:masters"], cluster: "paris" },
  ],
});

describe("authenticator", () => {
  test("AN-1: a certificate names the user and the groups", async () => {
    const user = await authenticator.authenticate({
      cluster,
      certificate: { commonName: "alice", organizations: ["system:masters"] },
    });

    expect(user).toEqual({ name: "alice", groups: ["system:masters", "system:authenticated"] });
  });

  test("AN-2: a known token names its user", async () => {
    expect(await authenticator.authenticate({ cluster, bearerToken: "s3cret" })).toEqual({
      name: "robot",
      uid: "7",
      groups: ["robots", "system:authenticated"],
    });
  });

  test("a certificate wins over a token, as in Kubernetes", async () => {
    const user = await authenticator.authenticate({
      cluster,
      certificate: { commonName: "alice", organizations: [] },
      bearerToken: "wrong",
    });

    expect(user?.name).toBe("alice");
  });

  test("AN-4: who brings nothing is refused, unless strangers may come", async () => {
    await expect(authenticator.authenticate({ cluster })).rejects.toMatchObject({ status: { code: 401 } });

    expect(await createAuthenticator({ anonymous: true }).authenticate({ cluster })).toBeUndefined();
  });

  test("AN-4: a wrong token is refused, also where strangers may come", async () => {
    for (const anonymous of [false, true]) {
      const lenient = createAuthenticator({ tokens: [{ token: "s3cret", user: "robot" }], anonymous });

      await expect(lenient.authenticate({ cluster, bearerToken: "s3cret " })).rejects.toMatchObject({
        status: { code: 401, reason: "Unauthorized" },
      });
    }
  });

  test("a certificate without a name is refused", async () => {
    await expect(
      authenticator.authenticate({ cluster, certificate: { commonName: "", organizations: ["system:masters"] } }),
    ).rejects.toMatchObject({ status: { code: 401 } });
  });

  test("a token for one cluster opens no other", async () => {
    expect(await authenticator.authenticate({ cluster: "paris", bearerToken: "paris-only" })).toMatchObject({
      name: "admin",
    });

    await expect(authenticator.authenticate({ cluster: "oslo", bearerToken: "paris-only" })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });

  test("a certificate for one cluster opens no other, and the tie is no group", async () => {
    const certificate = { commonName: "admin", organizations: ["system:masters", clusterOrganization("paris")] };

    expect(await authenticator.authenticate({ cluster: "paris", certificate })).toEqual({
      name: "admin",
      groups: ["system:masters", "system:authenticated"],
    });
    await expect(authenticator.authenticate({ cluster: "oslo", certificate })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });
});
