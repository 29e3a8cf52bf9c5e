/** Who may do what on a hub whose objects another API server keeps: that server decides, in SubjectAccessReviews. */
import { HUB } from "@flotilla/apimachinery";
import type { Authorizer, ForeignAuthorizer } from "@flotilla/apiserver";
import { messageOf, defined } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { SubjectAccessReview } from "@flotilla/kubernetes";

/** As aggregated servers of Kubernetes remember answers. */
const KEPT_MS = 10_000;
/** Each is some hundred bytes. */
const MAX_KEPT = 5_000;

type Question = Parameters<ForeignAuthorizer["ask"]>[0];
type Opinion = Awaited<ReturnType<ForeignAuthorizer["ask"]>>;

export interface AccessReviews extends ForeignAuthorizer {
  /** The same for code that needs a decision. */
  readonly authorizer: Pick<Authorizer, "decide">;
}

export function createAccessReviews(client: Client, clock: Clock): AccessReviews {
  const kept = new Map<string, { opinion: Opinion; untilMs: number }>();

  const ask = (question: Question): Opinion | Promise<Opinion> => {
    const key = JSON.stringify([question.user, question.verb, question.resource, question.path]);
    const known = kept.get(key);
    if (known && known.untilMs > clock.now()) return known.opinion;
    return review(question).then((opinion) => {
      if (opinion.error !== undefined) return opinion;
      kept.delete(key);
      kept.set(key, { opinion, untilMs: clock.now() + KEPT_MS });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return opinion;
    });
  };

  async function review({ user, verb, resource, path }: Question): Promise<Opinion> {
    const { name, uid, groups, extra } = user;
    try {
      const { status } = await client.create(SubjectAccessReview, HUB, {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: { name: "" },
        spec: {
          user: name,
          uid,
          groups: [...groups],
          extra: extra && Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])),
          ...defined({
            resourceAttributes: resource ? attributesOf(verb, resource) : undefined,
            nonResourceAttributes: resource ? undefined : { verb, path },
          }),
        },
      });
      return { opinion: status?.allowed === true ? "allow" : "none", reason: status?.reason ?? "" };
    } catch (error) {
      return { opinion: "none", reason: "", error: messageOf(error) };
    }
  }

  return {
    name: "subject-access-reviews",
    ask,
    authorizer: {
      async decide(question) {
        const { opinion, reason, error } = await ask(question);
        return { allowed: opinion === "allow", reason, error };
      },
    },
  };
}

/** Without selectors: roles know none, and what is allowed without them is allowed with them. */
const attributesOf = (verb: string, given: NonNullable<Question["resource"]>) => {
  const { group, version, resource, subresource, namespace, name } = given;
  return { verb, group, version, resource, subresource, namespace, name };
};
