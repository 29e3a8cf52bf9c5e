import { expect, test } from "vitest";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { AccountTokens, TokenOutcome } from "./account-tokens.ts";
import { createBearerTokens } from "./bearer-tokens.ts";

const PARIS = { name: "paris" } as LogicalCluster;
const HUB = { name: "hub" } as LogicalCluster;
/** An account token for paris, as the tokens of another cluster see it. */
const ELSEWHERE: TokenOutcome = { error: "invalid signature, no keys found" };

/** Tokens that start with `paris` belong to that cluster, those that start with `default` only have its issuer. */
function start() {
  const asked: string[] = [];
  const bearers = createBearerTokens({
    tokens: [{ token: "static-of-paris", user: "admin", cluster: "paris" }],
    accounts: {
      tokens: {
        audiences: ["api"],
        authenticate: async (_cluster: LogicalCluster, token: string) =>
          token.startsWith("paris") || token.startsWith("default") ? ELSEWHERE : { error: undefined },
        homeOf: async (token: string) => (token.startsWith("paris") ? PARIS : undefined),
      } as unknown as AccountTokens,
      bootstrap: { authenticate: () => undefined },
      clusters: {
        get: (name: string) => [HUB, PARIS].find((cluster) => cluster.name === name),
        all: () => [HUB, PARIS],
        subscribe: () => () => {},
      } as unknown as ClusterRegistry,
    },
    external: {
      authenticate: async (token) => {
        asked.push(token);
        return { user: { name: "ann", groups: [] }, audiences: [] };
      },
    },
  });
  return { bearers, asked };
}

test.each([
  ["a static token of one cluster", "hub", "static-of-paris", { error: undefined }],
  ["an account token of another cluster", "hub", "paris-account", ELSEWHERE],
  ["an account token at a cluster that is not there", "none", "paris-account", { error: undefined }],
])("%s is not sent to others", async (_, cluster, token, want) => {
  const { bearers, asked } = start();

  expect(await bearers.authenticate(cluster, token)).toEqual(want);
  expect(asked).toEqual([]);
});

test("tokens that this server did not issue are, also those of another cluster with the same issuer", async () => {
  const { bearers, asked } = start();

  for (const token of ["other", "default-issuer"])
    expect(await bearers.authenticate("hub", token)).toMatchObject({ user: { name: "ann" } });
  expect(asked).toEqual(["other", "default-issuer"]);
});
