import { z } from 'zod';
import { projectNotFound } from '../../db/tenants/projects.ts';
import { listUserProjectsBySlug } from '../../db/tenants/user-projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { toProject } from './to-project.ts';

/** Maximum number of organizations that the response names when a slug is ambiguous. */
const SAME_SLUG_MAX = 20;
export const ofOrganization = z
  .uuid('must be the id of an organization')
  .optional()
  .meta({ description: 'Only the projects of this organization.' });
export const bySlugQuery = z.strictObject({ organization_id: ofOrganization });

/** Answers with the caller’s project by its slug; 409 when several of the caller’s organizations have one. */
export function getProjectBySlug({ db }: ApiDeps): ApiMiddleware {
  return async function getProjectBySlug(ctx) {
    const { slug = '' } = ctx.params;
    const { organization_id } = ctx.state.query as z.infer<typeof bySlugQuery>;
    const rows = SLUG_PATTERN.test(slug)
      ? await listUserProjectsBySlug(db, ctx.state.user.userId, slug, organization_id, SAME_SLUG_MAX)
      : [];
    const [project, ...others] = rows;
    if (!project) throw projectNotFound();
    if (others.length > 0)
      throw new ServiceError('CONFLICT', ambiguousSlug(slug), {
        organization_ids: rows.map((row) => row.organization_id),
      });
    ctx.body = toProject(project);
  };
}

export function ambiguousSlug(slug: string): string {
  return `Several of your organizations have a project with the slug ${slug}: send organization_id.`;
}
