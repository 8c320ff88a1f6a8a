/** How many things of one organization are done at a time; unlike with turns, no organization waits for another. */
export type OrganizationLimit = {
  /** Does `work` when fewer than the limit of the organization's are under way, in the order they came. */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T>;
};

/** Creates a limit of `max` for each organization. */
export function createOrganizationLimit(max: number): OrganizationLimit {
  const organizations = new Map<string, { underWay: number; waiting: (() => void)[] }>();
  return {
    async run(organizationId, work) {
      const own = organizations.get(organizationId) ?? { underWay: 0, waiting: [] };
      organizations.set(organizationId, own);
      if (own.underWay < max) own.underWay += 1;
      else await new Promise<void>((resolve) => own.waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = own.waiting.shift();
        if (next) next();
        else {
          own.underWay -= 1;
          if (own.underWay === 0) organizations.delete(organizationId);
        }
      }
    },
  };
}
