import { describe, expect, test } from "vitest";
import { createAuthenticator } from "./authenticator.ts";

const authenticator = createAuthenticator({ tokens: [{ token: "s3cret", user: "robot", groups: ["robots"], uid: "7" }] });

describe("authenticator", () => {
  test("a certificate names the user and the groups", async () => {
    const user = await authenticator.authenticate({ certificate: { commonName: "alice", organizations: ["system:masters"] } });

    expect(user).toEqual({ name: "alice", groups: ["system:masters", "system:authenticated"] });
  });

  test("a known token names its user", async () => {
    expect(await authenticator.authenticate({ bearerToken: "s3cret" })).toEqual({ name: "robot", uid: "7", groups: ["robots", "system:authenticated"] });
  });

  test("a certificate wins over a token, as in Kubernetes", async () => {
    const user = await authenticator.authenticate({ certificate: { commonName: "alice", organizations: [] }, bearerToken: "wrong" });

    expect(user?.name).toBe("alice");
  });

  test("no credentials are nobody", async () => {
    expect(await authenticator.authenticate({})).toBeUndefined();
  });

  test("a wrong token is refused", async () => {
    await expect(authenticator.authenticate({ bearerToken: "s3cret " })).rejects.toMatchObject({ status: { code: 401, reason: "Unauthorized" } });
  });

  test("a certificate without a name is refused", async () => {
    await expect(authenticator.authenticate({ certificate: { commonName: "", organizations: ["system:masters"] } })).rejects.toMatchObject({ status: { code: 401 } });
  });
});
