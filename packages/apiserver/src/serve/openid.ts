/**
 * OpenID discovery: the issuer metadata and public keys that external verifiers of service account tokens need, for
 * each cluster.
 */
import { HUB, notAcceptable } from "@flotilla/apimachinery";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { jsonResponse } from "../request/respond.ts";
import type { AccountTokens } from "../access/account-tokens.ts";

const CACHEABLE = { "cache-control": "public, max-age=3600" };
const KEY_SET = "application/jwk-set+json";
const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-fA-F:.]+\](:\d+)?$/;

export function openIdConfiguration(
  { issuer }: AccountTokens,
  { name }: LogicalCluster,
  { headers }: Pick<ApiRequest, "headers">,
): ApiResponse {
  accept(headers.accept, "application/json");
  const host = headers[":authority"] ?? headers.host ?? "";
  const document = {
    issuer,
    // The keys are served at the address that the client used.
    jwks_uri: `https://${HOST.test(host) ? host : "localhost"}${name === HUB ? "" : `/clusters/${name}`}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
  return jsonResponse(200, document, CACHEABLE);
}

export async function openIdKeys(
  tokens: AccountTokens,
  cluster: LogicalCluster,
  { headers }: Pick<ApiRequest, "headers">,
): Promise<ApiResponse> {
  accept(headers.accept, KEY_SET);
  return jsonResponse(200, await tokens.keySet(cluster), { ...CACHEABLE, "content-type": KEY_SET });
}

function accept(header: string | undefined, offered: string): void {
  const types = (header ?? "*/*").split(",").map((clause) => clause.split(";", 1)[0]?.trim() ?? "");
  if (!types.some((type) => type === "" || type === "*/*" || type === "application/*" || type === offered))
    throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${offered}`);
}
