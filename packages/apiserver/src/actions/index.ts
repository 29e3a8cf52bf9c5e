/** Every action that the server supports. */
import type { Action } from "./action.ts";
import { localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview } from "./access-review.ts";
import { legacyBinding, podBinding } from "./binding.ts";
import { podEviction } from "./eviction.ts";
import { selfSubjectReview } from "./self-subject-review.ts";
import { selfSubjectRulesReview } from "./self-subject-rules-review.ts";
import { token } from "./token.ts";
import { tokenReview } from "./token-review.ts";

export const builtInActions: readonly Action[] = [
  subjectAccessReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  selfSubjectReview,
  tokenReview,
  token,
  podBinding,
  legacyBinding,
  podEviction,
];
