/** What is wrong with an object on a member. */

export interface Unhealthy {
  /** CamelCase, for the condition. */
  reason: string;
  message: string;
}
