/*
 * examples: sys-sage's papi_multithreading on sspapi.h, from C++ as its users write it. 
 * PAPI_TOT_INS and PAPI_TOT_CYC may be software events.
 * usage: examples	77: PAPI cannot count that on this machine
 */
#include "sspapi.h"

#include <papi.h>
#include <pthread.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

namespace {

constexpr size_t N = 1'000'000;
int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC};
sspapi_component *node;

void must(const char *what, int rc)
{
	if (rc == PAPI_OK)
		return;
	std::cerr << what << ": " << PAPI_strerror(rc) << '\n';
	std::exit(EXIT_FAILURE);
}

void expect(const char *what, bool is)
{
	if (is)
		return;
	std::cout << "wrong: " << what << '\n';
	std::exit(EXIT_FAILURE);
}

void saxpy()
{
	auto a = std::make_unique<double[]>(N), b = std::make_unique<double[]>(N), c = std::make_unique<double[]>(N);

	for (size_t i = 0; i < N; i++)
		a[i] = 3.14159 * b[i] + c[i];
	asm volatile("" : : "r"(a.get()) : "memory");
}

int new_set()
{
	int set = PAPI_NULL;

	must("PAPI_create_eventset", PAPI_create_eventset(&set));
	if (PAPI_add_events(set, events, 2) != PAPI_OK)
		std::exit(77);
	return set;
}

void free_set(int set)
{
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(set));
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&set));
}

void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
		std::exit(77);
}

std::vector<int> allowed()
{
	std::vector<int> cpus;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 4; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus.push_back(cpu);
	return cpus;
}

struct worker {
	int cpu = -1, set = PAPI_NULL;
	sspapi_relation *metrics = nullptr;
};

void *work(void *arg)
{
	auto w = static_cast<worker *>(arg);

	bind_to(w->cpu);
	must("PAPI_register_thread", PAPI_register_thread());
	must("sspapi_start", sspapi_start(w->set, &w->metrics));
	saxpy();
	must("sspapi_stop", sspapi_stop(w->metrics, node, false, nullptr));
	PAPI_unregister_thread();
	return nullptr;
}

/*
 * A worker pinned to each CPU, with its set attached to that CPU; then sums per core, walking up
 * from the CPUs.
 */
void threads()
{
	std::vector<int> cpus = allowed();
	std::vector<worker> workers(cpus.size());
	std::vector<pthread_t> ids(cpus.size());
	std::map<sspapi_component *, std::pair<long long, long long>> cores;
	long long all = 0;

	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	for (size_t i = 0; i < cpus.size(); i++) {
		PAPI_option_t o;

		workers[i].cpu = cpus[i];
		workers[i].set = new_set();
		std::memset(&o, 0, sizeof(o));
		o.cpu.eventset = workers[i].set;
		o.cpu.cpu_num = static_cast<unsigned>(cpus[i]);
		if (PAPI_set_opt(PAPI_CPU_ATTACH, &o) != PAPI_OK)
			std::exit(77);
	}
	for (size_t i = 0; i < cpus.size(); i++)
		pthread_create(&ids[i], nullptr, work, &workers[i]);
	for (pthread_t id : ids)
		pthread_join(id, nullptr);
	for (const worker &w : workers) {
		sspapi_component *cpu = sspapi_find_cpu(node, w.cpu), *core = sspapi_ancestor(cpu, "Core");
		int found[8], n = 8;

		must("sspapi_find_cpus", sspapi_find_cpus(w.metrics, found, &n));
		expect("its own CPU and no other", n == 1 && found[0] == w.cpu);
		cores[core].first += sspapi_get_metric(w.metrics, PAPI_TOT_INS, w.cpu, 0);
		cores[core].second += sspapi_get_metric(w.metrics, PAPI_TOT_CYC, w.cpu, 0);
	}
	for (auto &[core, sum] : cores) {
		sspapi_info info;

		must("sspapi_component_info", sspapi_component_info(core, &info));
		expect("it is a core", std::strcmp(info.type, "Core") == 0);
		expect("the core's sum by walking is its subtree's", sum.first == sspapi_subtree_total(core, PAPI_TOT_INS) &&
									 sum.second == sspapi_subtree_total(core, PAPI_TOT_CYC));
		all += sum.first;
		std::cout << "core " << info.logical_index << ": " << sum.first << ' ' << sum.second << '\n';
	}
	expect("the cores' sum is the machine's", all > 0 && all == sspapi_subtree_total(node, PAPI_TOT_INS));
	for (const worker &w : workers)
		free_set(w.set);
}

} // namespace

int main()
{
	node = sspapi_topology(nullptr);
	if (!node || PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return EXIT_FAILURE;
	threads();
	PAPI_shutdown();
	return EXIT_SUCCESS;
}
