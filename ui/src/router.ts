/** The addresses of the console. Each page is loaded when it is first opened. */
import { createRouter, createWebHistory } from 'vue-router'
import MissingPage from './pages/missing-page.vue'
import { hasRole, session } from './session.ts'

export const router = createRouter({
  history: createWebHistory(),
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
  routes: [
    { path: '/', redirect: () => (session.me && !hasRole('caller', 'operator') ? '/capabilities' : '/runs') },
    { path: '/sign-in', component: MissingPage, meta: { title: 'Sign in' } },
    {
      path: '/runs',
      component: () => import('./pages/runs-page.vue'),
      meta: { title: 'Runs', roles: ['caller', 'operator'] },
    },
    {
      path: '/runs/:runId',
      component: () => import('./pages/run-page.vue'),
      meta: { title: 'Run', roles: ['caller', 'operator'] },
    },
    {
      path: '/inbox/:requestId?',
      component: () => import('./pages/inbox-page.vue'),
      meta: { title: 'Inbox', roles: ['operator'] },
    },
    {
      path: '/compose',
      component: () => import('./pages/compose-page.vue'),
      meta: { title: 'Compose', roles: ['caller', 'operator'] },
    },
    {
      path: '/flex/sandbox',
      component: () => import('./pages/compose-page.vue'),
      props: { isSandbox: true },
      meta: { title: 'Sandbox', roles: ['caller', 'operator'], isSandbox: true },
    },
    {
      path: '/threads/:threadId?',
      component: () => import('./pages/threads-page.vue'),
      meta: { title: 'Threads', roles: ['caller', 'operator'] },
    },
    {
      path: '/capabilities',
      component: () => import('./pages/capabilities-page.vue'),
      meta: { title: 'Capabilities' },
    },
    {
      path: '/health',
      component: () => import('./pages/health-page.vue'),
      meta: { title: 'Health', roles: ['operator'] },
    },
    { path: '/:rest(.*)', component: MissingPage, meta: { title: 'Not found' } },
  ],
})
