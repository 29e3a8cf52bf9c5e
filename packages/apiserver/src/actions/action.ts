/**
 * Requests that code handles instead of storage: reviews (`POST subjectaccessreviews`) and subresources that accept an
 * object of another kind (`POST pods/a/eviction`). Each action is one file in `actions/`; kinds declare its shape.
 */
import type { RequestContext } from "../request/context.ts";
import type { Answer, Input, OperationDependencies } from "../serve/operations.ts";
import type { ServedVersion } from "../resources/resources.ts";

export interface Action {
  group: string;
  /** The plural of the resource. */
  resource: string;
  /** Unset for a review, where the resource itself is the action. */
  subresource?: string;
  /** The kind of the request body when it differs from the resource; used in errors about invalid bodies. */
  sends?: ServedVersion;
  run(deps: OperationDependencies, context: RequestContext, input: Input): Promise<Answer>;
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
