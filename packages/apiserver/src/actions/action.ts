/**
 * Requests that code handles instead of storage: reviews (`POST subjectaccessreviews`) and subresources that accept an
 * object of another kind (`POST pods/a/eviction`). Each action is one file in this folder; kinds declare its shape.
 */
import type { RequestContext } from "../request/context.ts";
import type { Json, JsonObject } from "@flotilla/base";
import type { PatchType } from "@flotilla/client";
import type { AccountTokens } from "../access/account-tokens.ts";
import type { BearerTokens } from "../access/bearer-tokens.ts";
import type { DecodedObject, DecodedPatch } from "../codec/decode.ts";
import type { ListResult } from "../read/read.ts";
import type { Authorizer } from "../request/authorize.ts";
import type { CachedEntry } from "../store/cache.ts";
import type { WriteDependencies } from "../write/store-object.ts";
import type { ServedVersion } from "../resources/resources.ts";

export type ActionDependencies = WriteDependencies & {
  authorizer: Authorizer;
  accountTokens: AccountTokens;
  tokens: BearerTokens;
};

/** The result of an operation, not yet serialized. */
export type Answer =
  | { type: "entry"; entry: CachedEntry; served: ServedVersion; code: 200 | 201 | 202 }
  | { type: "list"; result: ListResult; served: ServedVersion }
  | { type: "object"; object: JsonObject; code: 200 | 201 };

/** The body of a request, decoded when the operation reads it. */
export interface Input {
  object(): DecodedObject;
  value(): Json | undefined;
  patch(): DecodedPatch;
  patchType(): PatchType;
}

export interface Action {
  group: string;
  /** The plural of the resource. */
  resource: string;
  /** Unset for a review, where the resource itself is the action. */
  subresource?: string;
  /** The kind of the request body when it differs from the resource; used in errors about invalid bodies. */
  sends?: ServedVersion;
  run(deps: ActionDependencies, context: RequestContext, input: Input): Promise<Answer>;
}

export interface Actions {
  of(served: ServedVersion, subresource: string | undefined): Action | undefined;
}

export function createActions(actions: readonly Action[]): Actions {
  const keyOf = (group: string, resource: string, subresource = ""): string => `${group}/${resource}/${subresource}`;
  const byKey = new Map(actions.map((action) => [keyOf(action.group, action.resource, action.subresource), action]));
  return {
    of({ resource: { kind, name } }, subresource) {
      // Only when the kind declares it: a custom resource may have any name.
      if (
        !kind.builtIn ||
        (subresource === undefined
          ? !kind.verbs
          : !kind.subresources.actions || !Object.hasOwn(kind.subresources.actions, subresource))
      )
        return undefined;
      return byKey.get(keyOf(name.group, name.resource, subresource));
    },
  };
}
