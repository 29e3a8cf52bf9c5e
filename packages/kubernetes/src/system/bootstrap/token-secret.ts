/**
 * Reads a Secret of type `bootstrap.kubernetes.io/token`. The API server reads the same fields itself when a client
 * presents the token.
 */
import type { Secret } from "../../secret/secret-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { timeProblem } from "@flotilla/apimachinery";

export const TOKEN_NAMESPACE = "kube-system";
const NAME = /^bootstrap-token-([a-z0-9]{6})$/;

const textOf = ({ data = {} }: DeepReadonly<Secret>, key: string): string =>
  Buffer.from((Object.hasOwn(data, key) ? data[key] : undefined) ?? "", "base64").toString();

/** Its expiration; infinite if unset. An unparsable time counts as expired. */
export function expirationOf(secret: DeepReadonly<Secret>): number {
  const text = textOf(secret, "expiration");
  if (text === "") return Number.POSITIVE_INFINITY;
  return timeProblem(text, false) === undefined ? Date.parse(text) : Number.NEGATIVE_INFINITY;
}

/** The token, if it may be used to sign `cluster-info`. */
export function signingToken(secret: DeepReadonly<Secret>, nowMs: number): { id: string; secret: string } | undefined {
  const id = textOf(secret, "token-id");
  const key = textOf(secret, "token-secret");
  const isGood =
    NAME.exec(secret.metadata.name)?.[1] === id &&
    key !== "" &&
    expirationOf(secret) > nowMs &&
    textOf(secret, "usage-bootstrap-signing") === "true";
  return isGood ? { id, secret: key } : undefined;
}
